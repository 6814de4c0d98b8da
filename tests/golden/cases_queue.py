"""Queues, staging areas, barriers and accumulators, all used so that nobody waits."""
from cases_data_flow import SOME, Flow, error
from golden import R, T, f32, i32, i64


class Queue:
    """A queue in a case."""

    def __init__(self, f, op, types, **attrs):
        self.f, self.types = f, types
        self.suffix = "V2" if op.endswith("V2") else ""
        self.handle = (f.do(op, [], component_types=types, **attrs), "resource" if self.suffix else "string")
        if op.startswith("PriorityQueue"):
            self.types = ["int64"] + types

    def op(self, name, *inputs, keep=(), **attrs):
        return self.f.do("Queue" + name + self.suffix, [self.handle, *inputs], keep=keep, **attrs)

    def put(self, *components, **kw):
        self.op("Enqueue", list(components), **kw)

    def put_many(self, *components, **kw):
        self.op("EnqueueMany", list(components), **kw)

    def get(self, types=None):
        types = types or self.types
        self.op("Dequeue", keep=range(len(types)), component_types=types)

    def get_many(self, n, name="DequeueMany"):
        self.op(name, i32(n), keep=range(len(self.types)), component_types=self.types)

    def size(self):
        self.op("Size", keep=[0])


def queues():
    for dtype in SOME:
        f = Flow(f"FIFOQueueV2/{dtype}/many")
        q = Queue(f, "FIFOQueueV2", [dtype, "int64"], shapes=[(2,), ()])
        q.put_many(R(dtype, (4, 2)), i64([1, 2, 3, 4]))
        q.put(R(dtype, (2,), 7), i64(5))
        q.size()
        q.get()
        q.get_many(3)
        q.get_many(0)
        q.op("IsClosed", keep=[0])
        q.op("Close")
        q.op("IsClosed", keep=[0])
        q.get_many(4, "DequeueUpTo")
        q.size()
        yield f.case
    f = Flow("QueueDequeueManyV2/float/vector-runtime")
    q = Queue(f, "FIFOQueueV2", ["float"], shapes=[(2,)])
    q.put_many(R("float", (4, 2)))
    for name in ("DequeueMany", "DequeueUpTo"):
        q.op(name, i32([2]), keep=[0], dynamic=True, component_types=["float"])
    yield f.case
    for op in ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"):
        f = Flow(f"{op}/float/references")
        priority = [i64([3, 1, 2])] if op == "PriorityQueue" else []
        attrs = {"seed": 5, "seed2": 7} if op == "RandomShuffleQueue" else {}
        q = Queue(f, op, ["float"], shapes=[(2,)], **attrs)
        q.put_many(*priority, R("float", (3, 2)))
        q.size()
        q.get()
        q.get_many(1)
        q.op("Close", cancel_pending_enqueues=True)
        q.op("IsClosed", keep=[0])
        if op == "PriorityQueue":  # which loses what it took when fewer elements are left than were asked for
            q.get_many(1)
        else:
            q.get_many(5, "DequeueUpTo")
        yield f.case
    f = Flow("FIFOQueueV2/mixed/no-shapes")
    q = Queue(f, "FIFOQueueV2", ["float", "string"])
    q.put(R("float", (2, 2)), T("string", ["a", "b"]))
    q.put(R("float", ()), T("string", "c", ()))
    q.put_many(R("float", (2, 1)), T("string", ["d", "e"]))
    for _ in range(4):
        q.get()
    yield f.case
    f = Flow("FIFOQueueV2/float/shared-name")
    a = Queue(f, "FIFOQueueV2", ["float"], shared_name="golden_queue")
    b = Queue(f, "FIFOQueueV2", ["float"], shared_name="golden_queue")
    a.put(f32(1))
    b.get()
    yield f.case
    f = Flow("FIFOQueueV2/float/cancel-twice")
    q = Queue(f, "FIFOQueueV2", ["float"])
    q.op("Close", cancel_pending_enqueues=True)
    q.op("Close", cancel_pending_enqueues=True)
    q.op("IsClosed", keep=[0])
    yield f.case
    f = Flow("FakeQueue/float/resource")
    q = Queue(f, "FIFOQueueV2", ["float"])
    q.put(f32([1, 2]))
    fake = f.do("FakeQueue", [q.handle])
    f.do("QueueDequeue", [(fake, "string")], keep=[0], component_types=["float"])
    yield f.case

    for dtype in ("float", "int32", "string", "bool", "complex128", "int8"):
        f = Flow(f"PaddingFIFOQueueV2/{dtype}/pad")
        q = Queue(f, "PaddingFIFOQueueV2", [dtype, "int32"], shapes=[(-1, 3, -1), (-1,)])
        for k, (a, b, c) in enumerate(((1, 2, 0), (3, 1, 2), (0, 4, 1), (2, 2, 2))):
            q.put(R(dtype, (a, 3, b), k), i32([k] * c))
        q.get()
        q.get_many(0)
        q.get_many(3)
        q.size()
        yield f.case
    f = Flow("PaddingFIFOQueueV2/float/many")
    q = Queue(f, "PaddingFIFOQueueV2", ["float"], shapes=[(-1,)])
    q.put_many(R("float", (2, 3)))
    q.put_many(R("float", (1, 5)))
    q.get_many(3)
    yield f.case

    for seeds in ((1, 2), (87654321, 0), (0, 3), (2**40 + 5, -7)):
        f = Flow(f"RandomShuffleQueueV2/int32/seeds{seeds[0]}_{seeds[1]}")
        q = Queue(f, "RandomShuffleQueueV2", ["int32"], shapes=[()], seed=seeds[0], seed2=seeds[1], min_after_dequeue=3)
        q.put_many(i32(list(range(20))))
        for n in (5, 1, 9):
            q.get_many(n)
        q.get()
        q.put_many(i32([100, 101]))
        q.get()
        q.op("Close")
        q.get_many(9, "DequeueUpTo")
        yield f.case

    f = Flow("PriorityQueueV2/string/order")
    q = Queue(f, "PriorityQueueV2", ["string"], shapes=[()])
    q.put_many(i64([5, -3, 9, 0]), T("string", ["five", "minus", "nine", "zero"]))
    q.get()
    q.put(i64(-10), T("string", "first", ()))
    q.get()
    q.get_many(2)
    q.get()
    yield f.case


def queue_errors():
    def queue(f, types=("float",), op="FIFOQueueV2", **attrs):
        return Queue(f, op, list(types), **attrs)

    def closed(f, cancel=False, **attrs):
        q = queue(f, **attrs)
        q.put(f32([1, 2]))
        q.op("Close", cancel_pending_enqueues=cancel)
        return q

    def two(f, first, second):
        q = queue(f, shapes=[(2,)])
        getattr(q, first[0])(*first[1:])
        getattr(q, second[0])(*second[1:])

    for cancel in (False, True):
        yield error("QueueEnqueueV2", f"closed-{cancel}", lambda f: (lambda q: (q.put(f32([3, 4])), q.size()))(closed(f, cancel)))
    yield error("QueueEnqueueManyV2", "closed", lambda f: (lambda q: (q.put_many(f32([[3, 4]])), q.size()))(closed(f)))
    yield error("QueueDequeueV2", "closed", lambda f: (lambda q: (f.do("QueueDequeueV2", [q.handle], component_types=["float"]), q.get()))(closed(f)))
    yield error("QueueDequeueManyV2", "closed", lambda f: closed(f, shapes=[(2,)]).get_many(2))
    yield error("QueueDequeueUpToV2", "closed", lambda f: (lambda q: (f.do("QueueDequeueV2", [q.handle], component_types=["float"]), q.get_many(2, "DequeueUpTo")))(closed(f, shapes=[(2,)])))
    yield error("QueueCloseV2", "twice", lambda f: (lambda q: (q.op("Close"), q.size()))(closed(f)))
    yield error("QueueDequeueManyV2", "no-shapes", lambda f: closed(f).get_many(1))
    yield error("QueueDequeueManyV2", "negative", lambda f: queue(f, shapes=[(2,)]).get_many(-1))
    yield error("QueueDequeueManyV2", "negative-runtime", lambda f: f.do("QueueDequeueManyV2", [queue(f, shapes=[(2,)]).handle, i32(-1)], keep=[0], dynamic=True, component_types=["float"]))
    yield error("QueueDequeueV2", "dtype", lambda f: closed(f).get(["int32"]))
    yield error("QueueDequeueV2", "count", lambda f: closed(f).get(["float", "float"]))
    for tag, value in (("dtype", i32([1, 2])), ("shape", f32([1, 2, 3])), ("rank", f32(1))):
        yield error("QueueEnqueueV2", tag, lambda f: (lambda q: (q.put(value), q.size()))(queue(f, shapes=[(2,)])))
    for tag, value in (("dtype", i32([[1, 2]])), ("shape", f32([[1, 2, 3]])), ("rank", f32([1, 2])), ("scalar", f32(1))):
        yield error("QueueEnqueueManyV2", tag, lambda f: (lambda q: (q.put_many(value), q.size()))(queue(f, shapes=[(2,)])))
    yield error("QueueEnqueueV2", "count", lambda f: (lambda q: (q.put(f32(1)), q.size()))(queue(f, ["float", "float"])))
    yield error("QueueEnqueueManyV2", "uneven", lambda f: (lambda q: (q.put_many(f32([1]), f32([1, 2])), q.size()))(queue(f, ["float", "float"])))
    yield error("QueueEnqueueV2", "timeout", lambda f: (lambda q: (q.put(f32(1), timeout_ms=5), q.size()))(queue(f)))
    yield error("FIFOQueueV2", "shapes-count", lambda f: queue(f, shapes=[(), ()]).size())
    yield error("FIFOQueueV2", "shapes-unknown", lambda f: queue(f, shapes=[(-1,)]).size())
    yield error("PaddingFIFOQueueV2", "no-shapes", lambda f: queue(f, op="PaddingFIFOQueueV2").size())
    yield error("PaddingFIFOQueueV2", "shape", lambda f: (lambda q: (q.put(f32([[1]])), q.size()))(queue(f, op="PaddingFIFOQueueV2", shapes=[(-1,)])))
    yield error("RandomShuffleQueueV2", "min-after", lambda f: queue(f, op="RandomShuffleQueueV2", min_after_dequeue=-1).size())
    yield error("RandomShuffleQueueV2", "min-after-capacity", lambda f: queue(f, op="RandomShuffleQueueV2", min_after_dequeue=3, capacity=3).size())
    yield error("PriorityQueueV2", "priority-dtype", lambda f: (lambda q: (q.put(i32(1), f32(1)), q.size()))(queue(f, op="PriorityQueueV2", shapes=[()])))
    yield error("PriorityQueueV2", "priority-vector", lambda f: (lambda q: (q.put(i64([1]), f32(1)), q.size()))(queue(f, op="PriorityQueueV2", shapes=[()])))
    for op in ("FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2"):
        for capacity in (2 ** 31, -2 ** 31 - 1):
            yield error(op, f"capacity-{capacity}", lambda f: queue(f, op=op, capacity=capacity, shapes=[()]).size())
    yield error("RandomShuffleQueueV2", "min-after-no-capacity", lambda f: queue(f, op="RandomShuffleQueueV2", min_after_dequeue=2 ** 31 - 1, capacity=-1).size())
    yield error("RandomShuffleQueueV2", "min-beyond-int32", lambda f: queue(f, op="RandomShuffleQueueV2", min_after_dequeue=2 ** 31, capacity=-1).size())
    for tag, attrs in (("capacity", {"capacity": 5}), ("shapes", {"shapes": [(2,)]})):
        yield error("FIFOQueueV2", f"shared-{tag}", lambda f: (queue(f, shared_name="golden_clash"), queue(f, shared_name="golden_clash", **attrs).size()))
    yield error("FIFOQueueV2", "shared-types", lambda f: (queue(f, shared_name="golden_clash"), queue(f, ["int32"], shared_name="golden_clash").size()))
    yield error("FIFOQueueV2", "shared-kind", lambda f: (queue(f, shared_name="golden_clash"), queue(f, op="PaddingFIFOQueueV2", shapes=[()], shared_name="golden_clash").size()))


# ---------------------------------------------------------------- staging areas

def staging():
    for dtype in ("float", "string"):
        f = Flow(f"Stage/{dtype}/unstage")
        common = dict(dtypes=[dtype, "int32"], shared_name=f"golden_stage_{dtype}")
        for k in range(3):
            f.do("Stage", [[R(dtype, (2, k)), i32(k)]], **common)
        f.do("StageSize", [], keep=[0], **common)
        f.do("StagePeek", [i32(1)], keep=[0, 1], **common)
        f.do("Unstage", [], keep=[0, 1], **common)
        f.do("Unstage", [], keep=[0, 1], **common)
        f.do("StageClear", [], **common)
        f.do("StageSize", [], keep=[0], **common)
        yield f.case
    yield error("Stage", "memory", lambda f: (f.do("Stage", [[R("float", (9,))]], dtypes=["float"], memory_limit=8), f.do("Identity", [f32(1)], keep=[0])))
    yield error("Unstage", "count", lambda f: (f.do("Stage", [[f32(1)]], dtypes=["float"], shared_name="golden_clash"), f.do(
        "Unstage", [], keep=[0], dtypes=["float", "float"], shared_name="golden_clash")))
    for prefix in ("", "Ordered"):
        f = Flow(f"{prefix}MapStage/float/unstage")
        common = dict(dtypes=["float", "int32"], shared_name=f"golden_{prefix}map")
        for key in (5, 3, 9):
            f.do(prefix + "MapStage", [i64(key), i32([0, 1]), [f32([key, 1]), i32(key)]], **common)
        f.do(prefix + "MapStage", [i64(1), i32([1]), [i32(11)]], **common)
        f.do(prefix + "MapSize", [], keep=[0], **common)
        f.do(prefix + "MapIncompleteSize", [], keep=[0], **common)
        f.do(prefix + "MapPeek", [i64(5), i32([0, 1])], keep=[0, 1], **common)
        f.do(prefix + "MapPeek", [i64(5), i32([1])], keep=[0], **{**common, "dtypes": ["int32"]})
        f.do(prefix + "MapUnstage", [i64(5), i32([0, 1])], keep=[0, 1], **common)
        f.do(prefix + "MapStage", [i64(1), i32([0]), [f32([7])]], **common)
        f.do(prefix + "MapUnstage", [i64(1), i32([0])], keep=[0], **{**common, "dtypes": ["float"]})
        f.do(prefix + "MapSize", [], keep=[0], **common)
        f.do(prefix + "MapUnstage", [i64(1), i32([1])], keep=[0], **{**common, "dtypes": ["int32"]})
        if prefix:
            f.do(prefix + "MapUnstageNoKey", [i32([0, 1])], keep=[0, 1, 2], **common)
        f.do(prefix + "MapClear", [], **common)
        f.do(prefix + "MapSize", [], keep=[0], **common)
        yield f.case
    for tag, indices, values in (("order", [1, 0], 2), ("twice", [0, 0], 2)):
        yield error("MapStage", tag, lambda f: (f.do("MapStage", [i64(1), i32(indices), [f32(k) for k in range(values)]], dtypes=["float", "float"]),
                                                f.do("Identity", [f32(1)], keep=[0])))

    def staged(f, key, indices, then):
        common = dict(shared_name="golden_clash", dtypes=["float", "float"])
        f.do("MapStage", [i64(1), i32([0, 1]), [f32(1), f32(2)]], **common)
        f.do("MapUnstage", [i64(1), i32([0])], **{**common, "dtypes": ["float"]})
        f.do(then, [i64(key), i32(indices)], keep=[0], **{**common, "dtypes": ["float"]})

    yield error("MapPeek", "removed", lambda f: staged(f, 1, [0], "MapPeek"))
    yield error("MapUnstage", "removed", lambda f: staged(f, 1, [0], "MapUnstage"))
    yield error("MapUnstage", "bounds", lambda f: staged(f, 1, [7], "MapUnstage"))

    def again(f):
        common = dict(shared_name="golden_clash", dtypes=["float", "float"])
        for _ in range(2):
            f.do("MapStage", [i64(1), i32([0]), [f32(1)]], **common)
        f.do("Identity", [f32(1)], keep=[0])

    yield error("MapStage", "part-twice", again)


# ---------------------------------------------------------------- barriers

def barriers():
    def barrier(f, types=("float", "string"), shapes=((2,), ()), **attrs):
        return (f.do("Barrier", [], component_types=list(types), shapes=list(shapes), **attrs), "string")

    def insert(f, b, component, keys, values, **kw):
        f.do("BarrierInsertMany", [b, T("string", keys), values], component_index=component, **kw)

    def take(f, b, n, **attrs):
        f.do("BarrierTakeMany", [b, i32(n)], keep=[0, 1, 2, 3], component_types=["float", "string"], **attrs)

    def sizes(f, b):
        f.do("BarrierReadySize", [b], keep=[0])
        f.do("BarrierIncompleteSize", [b], keep=[0])

    f = Flow("Barrier/mixed/complete")
    b = barrier(f)
    insert(f, b, 0, ["a", "b", "c"], R("float", (3, 2)))
    sizes(f, b)
    insert(f, b, 1, ["c", "d", "a"], T("string", ["C", "D", "A"]))
    sizes(f, b)
    take(f, b, 1)
    insert(f, b, 1, ["b"], T("string", ["B"]))
    insert(f, b, 0, ["a"], R("float", (1, 2), 4))
    take(f, b, 2)
    f.do("BarrierClose", [b])
    insert(f, b, 1, ["a"], T("string", ["A2"]))
    insert(f, b, 0, ["d"], R("float", (1, 2), 5))
    sizes(f, b)
    take(f, b, 9, allow_small_batch=True)
    sizes(f, b)
    yield f.case
    f = Flow("Barrier/mixed/cancel")
    b = barrier(f)
    insert(f, b, 0, ["a", "b"], R("float", (2, 2)))
    insert(f, b, 1, ["a"], T("string", ["A"]))
    f.do("BarrierClose", [b])
    f.do("BarrierClose", [b], cancel_pending_enqueues=True)
    sizes(f, b)
    take(f, b, 1)
    yield f.case

    def closed(f, cancel=False):
        b = barrier(f)
        insert(f, b, 0, ["a"], R("float", (1, 2)))
        f.do("BarrierClose", [b], cancel_pending_enqueues=cancel)
        return b

    def then(f, b, *work):
        work[0](f, b, *work[1:])
        f.do("BarrierReadySize", [b], keep=[0])

    values = R("float", (1, 2))
    yield error("BarrierInsertMany", "new-key", lambda f: then(f, closed(f), insert, 0, ["z"], values))
    yield error("BarrierInsertMany", "cancelled", lambda f: then(f, closed(f, True), insert, 1, ["a"], T("string", ["A"])))
    yield error("BarrierInsertMany", "component", lambda f: then(f, barrier(f), insert, 2, ["a"], values))
    yield error("BarrierInsertMany", "dtype", lambda f: then(f, barrier(f), insert, 1, ["a"], values))

    def twice(f):
        b = barrier(f)
        insert(f, b, 0, ["a", "a"], R("float", (2, 2)))
        f.do("BarrierReadySize", [b], keep=[0])

    yield error("BarrierInsertMany", "twice", twice)
    yield error("BarrierTakeMany", "closed", lambda f: take(f, closed(f, True), 1))
    yield error("BarrierTakeMany", "closed-more", lambda f: take(f, closed(f), 2))
    yield error("BarrierTakeMany", "closed-small", lambda f: take(f, closed(f), 2, allow_small_batch=True))
    yield error("BarrierClose", "twice", lambda f: then(f, closed(f), lambda f, b: f.do("BarrierClose", [b])))
    yield error("Barrier", "capacity", lambda f: f.do("BarrierReadySize", [barrier(f, capacity=5)], keep=[0]))
    yield error("Barrier", "no-shapes", lambda f: f.do("BarrierReadySize", [barrier(f, shapes=())], keep=[0]))


# ---------------------------------------------------------------- accumulators

def accumulators():
    for dtype in ("float", "double", "half"):
        for op, prefix, kind in (("ConditionalAccumulator", "", "string"), ("ResourceConditionalAccumulator", "Resource", "resource")):
            if prefix and dtype != "float":
                continue
            for reduction in ("MEAN", "SUM"):
                f = Flow(f"{op}/{dtype}/{reduction.lower()}")
                a = (f.do(op, [], dtype=dtype, shape=(2, -1), reduction_type=reduction), kind)
                for k in range(3):
                    f.do(prefix + "AccumulatorApplyGradient", [a, i64(0), R(dtype, (2, 3), k)])
                f.do(prefix + "AccumulatorNumAccumulated", [a], keep=[0])
                f.do(prefix + "AccumulatorTakeGradient", [a, i32(2)], keep=[0], dtype=dtype)
                f.do(prefix + "AccumulatorNumAccumulated", [a], keep=[0])
                f.do(prefix + "AccumulatorApplyGradient", [a, i64(0), R(dtype, (2, 1), 7)])
                f.do(prefix + "AccumulatorNumAccumulated", [a], keep=[0])
                f.do(prefix + "AccumulatorSetGlobalStep", [a, i64(5)])
                for step in (4, 5, 6):
                    f.do(prefix + "AccumulatorApplyGradient", [a, i64(step), R(dtype, (2, 1), step)])
                f.do(prefix + "AccumulatorNumAccumulated", [a], keep=[0])
                f.do(prefix + "AccumulatorTakeGradient", [a, i32(1)], keep=[0], dtype=dtype)
                yield f.case
        for reduction in ("MEAN", "SUM"):
            f = Flow(f"SparseConditionalAccumulator/{dtype}/{reduction.lower()}")
            a = (f.do("SparseConditionalAccumulator", [], dtype=dtype, shape=(9, -1), reduction_type=reduction), "string")
            for k, indices in enumerate(([1, 4], [0, 4, 8], [], [4])):
                f.do("SparseAccumulatorApplyGradient", [a, i64(0), i64(indices), R(dtype, (len(indices), 2), k), i64([9, 2])],
                     has_known_shape=k != 1)
            f.do("AccumulatorNumAccumulated", [a], keep=[0])
            f.do("SparseAccumulatorTakeGradient", [a, i32(4)], keep=[0, 1, 2], dtype=dtype)
            f.do("SparseAccumulatorApplyGradient", [a, i64(1), i64([3]), R(dtype, (1, 2), 9), i64([9, 2])], has_known_shape=True)
            f.do("SparseAccumulatorTakeGradient", [a, i32(1)], keep=[0, 1, 2], dtype=dtype)
            yield f.case

    def dense(f, gradient, **attrs):
        a = (f.do("ConditionalAccumulator", [], dtype="float", shape=(2, -1)), "string")
        f.do("AccumulatorApplyGradient", [a, i64(0), R("float", (2, 3))])
        f.do("AccumulatorApplyGradient", [a, i64(0), gradient])
        f.do("AccumulatorNumAccumulated", [a], keep=[0])

    for tag, gradient in (("shape", R("float", (3, 3))), ("rank", R("float", (2,))), ("other", R("float", (2, 4)))):
        yield error("AccumulatorApplyGradient", tag, lambda f: dense(f, gradient))
    for n in (0, -1):
        yield error("AccumulatorTakeGradient", f"required{n}", lambda f: f.do(
            "AccumulatorTakeGradient", [(f.do("ConditionalAccumulator", [], dtype="float", shape=()), "string"), i32(n)], keep=[0], dtype="float"))

    def sparse(f, indices, values, shape):
        a = (f.do("SparseConditionalAccumulator", [], dtype="float", shape=(4, -1)), "string")
        f.do("SparseAccumulatorApplyGradient", [a, i64(0), i64([0]), R("float", (1, 2)), i64([4, 2])], has_known_shape=True)
        f.do("SparseAccumulatorApplyGradient", [a, i64(0), indices, values, i64(shape)], has_known_shape=True)
        f.do("AccumulatorNumAccumulated", [a], keep=[0])

    for tag, indices, values, shape in (
            ("index", i64([4]), R("float", (1, 2)), [4, 2]), ("count", i64([1, 2]), R("float", (1, 2)), [4, 2]),
            ("scalar", i64([1]), f32(1), [4, 2]), ("matrix", i64([[1]]), R("float", (1, 2)), [4, 2]),
            ("shape", i64([1]), R("float", (1, 2)), [5, 2]), ("width", i64([1]), R("float", (1, 3)), [4, 3])):
        yield error("SparseAccumulatorApplyGradient", tag, lambda f: sparse(f, indices, values, shape))


def cases():
    yield from queues()
    yield from queue_errors()
    yield from staging()
    yield from barriers()
    yield from accumulators()
