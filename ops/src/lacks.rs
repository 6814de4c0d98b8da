//! What is known of ops that are declared nowhere here: for errors that say why one is missing.

/// TensorFlow's other ops.
const LACKING: &str = include_str!("lacking.txt");

/// The hashes of [`LACKING`]: a program holds four bytes for each name.
static HASHES: [u32; count(LACKING.as_bytes())] = hashes(LACKING.as_bytes());

/// The libraries that add ops to TensorFlow.
struct Library {
    /// What is said of its ops.
    reason: &'static str,
    /// How its ops begin that are in a namespace.
    namespace: Option<&'static str>,
    /// Its ops without a namespace, of the `REGISTER_OP`s in its sources.
    ops: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    Library {
        reason: "an op of TensorFlow Text, which Kernlink lacks",
        namespace: Some("TFText>"),
        ops: &[
            "CaseFoldUTF8",
            "ConstrainedSequence",
            "FastBertNormalize",
            "FastWordpieceTokenizeWithOffsets",
            "FindSourceOffsets",
            "MaxSpanningTree",
            "NormalizeUTF8",
            "NormalizeUTF8WithOffsetsMap",
            "RegexSplitWithOffsets",
            "RougeL",
            "SentenceFragments",
            "SentencepieceDetokenizeOp",
            "SentencepieceIdToStringOp",
            "SentencepieceOp",
            "SentencepieceStringToIdOp",
            "SentencepieceTokenizeOp",
            "SentencepieceTokenizeWithOffsetsOp",
            "SentencepieceVocabSizeOp",
            "SplitMergeTokenizeWithOffsets",
            "TokenizerFromLogits",
            "UnicodeScriptTokenizeWithOffsets",
            "WhitespaceTokenizeWithOffsets",
            "WordpieceTokenizeWithOffsets",
        ],
    },
    Library { reason: "an op of TensorFlow Addons, which Kernlink lacks", namespace: Some("Addons>"), ops: &[] },
    Library { reason: "an op of TensorFlow I/O, which Kernlink lacks", namespace: Some("IO>"), ops: &[] },
    Library {
        reason: "an op of TensorFlow Decision Forests, which Kernlink lacks",
        namespace: None,
        ops: &[
            "SimpleMLCategoricalIntFeature",
            "SimpleMLCategoricalIntFeatureOnFile",
            "SimpleMLCategoricalSetIntFeature",
            "SimpleMLCategoricalSetStringFeature",
            "SimpleMLCategoricalStringFeature",
            "SimpleMLCategoricalStringFeatureOnFile",
            "SimpleMLCheckStatus",
            "SimpleMLCheckTrainingConfiguration",
            "SimpleMLChiefFinalizeFeatureOnFile",
            "SimpleMLCreateModelResource",
            "SimpleMLCreateYDFGRPCWorker",
            "SimpleMLFileModelLoader",
            "SimpleMLHashFeature",
            "SimpleMLInferenceLeafIndexOpWithHandle",
            "SimpleMLInferenceOp",
            "SimpleMLInferenceOpWithHandle",
            "SimpleMLLoadModelFromPath",
            "SimpleMLLoadModelFromPathWithHandle",
            "SimpleMLModelTrainer",
            "SimpleMLModelTrainerOnFile",
            "SimpleMLNumericalFeature",
            "SimpleMLNumericalFeatureOnFile",
            "SimpleMLShowModel",
            "SimpleMLStopYDFGRPCWorker",
            "SimpleMLUnloadModel",
            "SimpleMLUpdateGRPCWorkerAddress",
            "SimpleMLWorkerFinalizeFeatureOnFile",
            "YggdrasilDecisionForestsSetLoggingLevel",
        ],
    },
    Library {
        reason: "an op of TensorFlow Quantum, which Kernlink lacks",
        namespace: None,
        ops: &[
            "TfqAdjointGradient",
            "TfqAppendCircuit",
            "TfqCalculateUnitary",
            "TfqInnerProduct",
            "TfqInnerProductGrad",
            "TfqNoisyExpectation",
            "TfqNoisySampledExpectation",
            "TfqNoisySamples",
            "TfqPsDecompose",
            "TfqPsSymbolReplace",
            "TfqPsWeightsFromSymbols",
            "TfqResolveParameters",
            "TfqSimulateExpectation",
            "TfqSimulateMPS1DExpectation",
            "TfqSimulateMPS1DSampledExpectation",
            "TfqSimulateMPS1DSamples",
            "TfqSimulateSampledExpectation",
            "TfqSimulateSamples",
            "TfqSimulateState",
        ],
    },
    Library {
        reason: "an op of Horovod, which trains on several machines; a model that is exported for inference does without",
        namespace: None,
        ops: &[
            "HorovodAllgather",
            "HorovodAllreduce",
            "HorovodAlltoall",
            "HorovodBroadcast",
            "HorovodBroadcastInplace",
            "HorovodBroadcastInplaceResource",
            "HorovodGroupedAllgather",
            "HorovodGroupedAllreduce",
            "HorovodGroupedReducescatter",
            "HorovodJoin",
            "HorovodLocalRank",
            "HorovodLocalSize",
            "HorovodProcessSetIncluded",
            "HorovodRank",
            "HorovodReducescatter",
            "HorovodSize",
        ],
    },
];

/// Why Kernlink lacks an op with all of its features, and what to do; `None` for names that it does not know.
pub(crate) fn lacks(op: &str) -> Option<&'static str> {
    if HASHES.contains(&hash(op.as_bytes(), 0).0) {
        return Some("TensorFlow has it, but Kernlink lacks it as yet");
    }
    let is_of = |library: &&Library| {
        library.namespace.is_some_and(|namespace| op.starts_with(namespace)) || library.ops.contains(&op)
    };
    LIBRARIES.iter().find(is_of).map(|library| library.reason)
}

/// The hash (FNV-1a) of the word that begins at a position, and the position after it.
const fn hash(text: &[u8], mut at: usize) -> (u32, usize) {
    let mut hash = 0x811c_9dc5_u32;
    while at < text.len() && !text[at].is_ascii_whitespace() {
        hash = (hash ^ text[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash, at)
}

/// How many words a text has: each is followed by one blank or the end of its line.
const fn count(text: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        (_, at) = hash(text, at);
        (at, count) = (at + 1, count + 1);
    }
    count
}

const fn hashes<const COUNT: usize>(text: &[u8]) -> [u32; COUNT] {
    let (mut hashes, mut at, mut i) = ([0; COUNT], 0, 0);
    while i < COUNT {
        (hashes[i], at) = hash(text, at);
        (at, i) = (at + 1, i + 1);
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_tensorflow_s_ops_are_declared_or_lacking() {
        let lacking = || LACKING.split_whitespace();
        assert_eq!(lacking().count(), HASHES.len());
        assert_eq!(lacking().find(|op| lacks(op).is_none()), None);
        let declared = kernlink::collect::linked_ops().map(|op| &*op.def.name);
        assert_eq!(declared.filter(|op| lacks(op).is_some()).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn the_reason_depends_on_whose_op_it_is() {
        let reason = |op| lacks(op).unwrap_or("?");
        assert!(reason("SqlDataset").starts_with("TensorFlow has it, but Kernlink lacks it"));
        for (op, library) in [
            ("TFText>FastWordpieceTokenizeWithOffsets", "TensorFlow Text"),
            ("SentencepieceTokenizeOp", "TensorFlow Text"),
            ("Addons>EmbeddingBag", "TensorFlow Addons"),
            ("IO>ParseAvro", "TensorFlow I/O"),
            ("SimpleMLLoadModelFromPathWithHandle", "TensorFlow Decision Forests"),
            ("TfqSimulateState", "TensorFlow Quantum"),
            ("HorovodAllreduce", "Horovod"),
        ] {
            assert!(reason(op).starts_with(&format!("an op of {library}, which ")), "{op}: {}", reason(op));
        }
        assert_eq!([lacks("MatMul"), lacks("Frobnicate"), lacks("")], [None; 3]);
    }

    #[test]
    fn names_of_one_s_own_are_nobody_s() {
        for op in ["RougeLike", "SplitMerge", "TfqOfMine", "MaxSpanningTreeOfMine", "SimpleMLOfMine", "HorovodOfMine"] {
            assert_eq!(lacks(op), None, "{op}");
        }
    }

    #[test]
    fn ops_for_tests_of_tensorflow_are_names_that_anyone_may_use() {
        for op in ["A", "Attr", "Binary", "ComplexStruct", "ConstructionFails", "CopyOp", "Simple", "TestAttr", "Unary"]
        {
            assert_eq!(lacks(op), None, "{op}");
        }
    }
}
