//! Ops through which nothing flows.

use kernlink_macros::not_differentiable;

use crate::*;

not_differentiable!(Const, NoOp, StopGradient);

not_differentiable!(
    BroadcastArgs,
    BroadcastGradientArgs,
    ConcatOffset,
    InvertPermutation,
    OneHot,
    OnesLike,
    Rank,
    Shape,
    ShapeN,
    Size,
    ZerosLike
);

not_differentiable!(
    All,
    Any,
    ApproximateEqual,
    Equal,
    Greater,
    GreaterEqual,
    IsFinite,
    IsInf,
    IsNan,
    Less,
    LessEqual,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    NotEqual,
    Range
);

not_differentiable!(ArgMax, ArgMin);

not_differentiable!(LinSpace);

#[cfg(feature = "parsing")]
not_differentiable!(DecodeProtoV2, EncodeProto, ParseTensor, SerializeTensor);

#[cfg(feature = "data")]
not_differentiable!(
    FixedLengthRecordReader,
    IdentityReader,
    ReaderNumRecordsProduced,
    ReaderNumWorkUnitsCompleted,
    ReaderRead,
    ReaderReadUpTo,
    ReaderReset,
    ReaderRestoreState,
    ReaderSerializeState,
    TFRecordReader,
    TextLineReader,
    WholeFileReader
);

#[cfg(feature = "data_flow")]
not_differentiable!(
    DeleteSessionTensor,
    GetSessionHandle,
    GetSessionHandleV2,
    GetSessionTensor,
    QueueClose,
    QueueDequeue,
    QueueDequeueMany,
    QueueDequeueUpTo,
    QueueEnqueue,
    QueueEnqueueMany,
    QueueSize
);

#[cfg(feature = "image")]
not_differentiable!(
    DrawBoundingBoxes,
    ExtractGlimpse,
    HSVToRGB,
    NonMaxSuppression,
    NonMaxSuppressionV2,
    NonMaxSuppressionWithOverlaps,
    RandomCrop,
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2
);

#[cfg(feature = "logging")]
not_differentiable!(
    Assert,
    AudioSummary,
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    MergeSummary,
    ScalarSummary,
    TensorSummary,
    TensorSummaryV2,
    Timestamp
);

#[cfg(feature = "lookup")]
not_differentiable!(
    HashTable,
    HashTableV2,
    InitializeTable,
    InitializeTableFromTextFile,
    InitializeTableFromTextFileV2,
    InitializeTableV2,
    LookupTableFind,
    LookupTableFindV2,
    LookupTableInsert,
    LookupTableInsertV2,
    LookupTableSize,
    LookupTableSizeV2,
    MutableDenseHashTable,
    MutableDenseHashTableV2,
    MutableHashTable,
    MutableHashTableOfTensors,
    MutableHashTableOfTensorsV2,
    MutableHashTableV2
);

not_differentiable!(BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift, PopulationCount, RightShift);

#[cfg(feature = "random")]
not_differentiable!(
    Multinomial,
    ParameterizedTruncatedNormal,
    RandomIndexShuffle,
    RandomShuffle,
    RandomStandardNormal,
    RandomUniform,
    StatelessMultinomial,
    StatelessRandomBinomial,
    StatelessRandomNormal,
    StatelessRandomNormalV2,
    StatelessRandomPoisson,
    StatelessRandomUniform,
    StatelessRandomUniformFullInt,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformInt,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessTruncatedNormal,
    StatelessTruncatedNormalV2,
    TruncatedNormal
);

#[cfg(feature = "sparse")]
not_differentiable!(
    DenseToDenseSetOperation,
    DenseToSparseSetOperation,
    EditDistance,
    RaggedRange,
    SetSize,
    SparseAddGrad,
    SparseConcat,
    SparseToSparseSetOperation
);

#[cfg(feature = "state")]
not_differentiable!(
    Assign,
    AssignAdd,
    AssignSub,
    ScatterAdd,
    ScatterDiv,
    ScatterMul,
    ScatterNdAdd,
    ScatterNdSub,
    ScatterNdUpdate,
    ScatterSub
);

#[cfg(feature = "string")]
not_differentiable!(
    AsString,
    DecodeBase64,
    DecodePaddedRaw,
    DecodeRaw,
    EncodeBase64,
    ReduceJoin,
    RegexReplace,
    StringJoin,
    StringSplit,
    StringToHashBucket,
    StringToHashBucketFast,
    StringToHashBucketStrong,
    StringToNumber
);
