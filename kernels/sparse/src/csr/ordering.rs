//! SparseMatrixOrderingAMD.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::{Csr, Matrix};

#[register_kernel(device = Cpu)]
fn ordering_amd(ctx: &mut KernelContext<'_, ops::SparseMatrixOrderingAMD>) -> Result<()> {
    let csr = Csr::at(ctx, 0)?;
    let size = csr.square_size()?;
    let shape = if csr.is_batched() { vec![csr.count(), size] } else { vec![size] };
    let mut output = ctx.allocate_output_at(0, shape)?;
    if let Some(of_a_row) = csr.mean_elements().saturating_mul(100).checked_div(size) {
        let cost = 100 + of_a_row;
        ctx.try_parallel_chunks(output.as_mut_slice::<i32>()?, size, cost, |first, piece| {
            for (n, slots) in (first / size..).zip(piece.chunks_exact_mut(size)) {
                let order = Elimination::new(csr.pattern(n)?)?.order()?;
                slots.iter_mut().zip(order).for_each(|(slot, node)| *slot = node as i32);
            }
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

const NONE: usize = usize::MAX;

/// A list of nodes of each degree, from which any can be taken out.
struct DegreeLists {
    heads: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
}

impl DegreeLists {
    fn push(&mut self, degree: usize, node: usize) {
        let head = self.heads[degree];
        if head != NONE {
            self.previous[head] = node;
        }
        self.next[node] = head;
        self.previous[node] = NONE;
        self.heads[degree] = node;
    }

    fn remove(&mut self, degree: usize, node: usize) {
        let (next, previous) = (self.next[node], self.previous[node]);
        if next != NONE {
            self.previous[next] = previous;
        }
        match previous {
            NONE => self.heads[degree] = next,
            _ => self.next[previous] = next,
        }
    }
}

/// The elimination of the nodes of a symmetric matrix's graph, always one whose degree is small next.
///
/// The method of approximate minimum degrees by P. R. Amestoy, T. A. Davis and I. S. Duff (1996), with the choices, among them
/// the order of all lists, of CSparse (T. A. Davis, Direct Methods for Sparse Linear Systems, chapter 7), which is what Eigen
/// and so TensorFlow compute. Nodes with many neighbours, and those without an element on the diagonal, come last.
struct Elimination {
    size: usize,
    /// How many nodes each stands for. Negative while it is among the neighbours of the one that is eliminated.
    weights: Vec<i64>,
    degrees: Vec<i64>,
    /// Of a variable the elements next to it.
    elements: Vec<Vec<usize>>,
    /// Of a variable the variables next to it, of an element those that it connects.
    variables: Vec<Vec<usize>>,
    /// What each node was absorbed into; `size` is the root of those that come last.
    parents: Vec<usize>,
    lists: DegreeLists,
    /// Marks of variables, and of an element in relation to `mark` how many it connects that are not considered; 0 if it is gone.
    marks: Vec<i64>,
    mark: i64,
    greatest_degree: i64,
    /// How many nodes are ordered.
    done: i64,
    least_degree: usize,
}

impl Elimination {
    fn new(matrix: Matrix<'_, i32>) -> Result<Elimination> {
        let size = matrix.rows;
        let mut variables: Vec<Vec<usize>> = scratch::filled(Vec::new(), size + 1)?;
        let mut has_diagonal = scratch::zeros::<bool>(size)?;
        for row in 0..size {
            for (column, _) in matrix.row(row).filter(|&(column, _)| column <= row) {
                scratch::push(&mut variables[column], row)?;
                if column == row {
                    has_diagonal[row] = true;
                } else {
                    scratch::push(&mut variables[row], column)?;
                }
            }
        }
        let mut graph = Elimination {
            size,
            weights: scratch::filled(1, size + 1)?,
            degrees: scratch::collected(variables.iter().map(|nodes| nodes.len() as i64))?,
            elements: scratch::filled(Vec::new(), size + 1)?,
            variables,
            parents: scratch::filled(NONE, size + 1)?,
            lists: DegreeLists {
                heads: scratch::filled(NONE, size + 1)?,
                next: scratch::filled(NONE, size + 1)?,
                previous: scratch::filled(NONE, size + 1)?,
            },
            marks: scratch::filled(1, size + 1)?,
            mark: 2,
            greatest_degree: 0,
            done: 0,
            least_degree: 0,
        };
        let dense = ((10.0 * (size as f64).sqrt()) as i64).max(16).min(size as i64 - 2);
        for (node, &has_diagonal) in has_diagonal.iter().enumerate() {
            let degree = graph.degrees[node];
            if degree == 1 && has_diagonal {
                graph.marks[node] = 0;
                graph.done += 1;
            } else if degree > dense || !has_diagonal {
                graph.parents[node] = size;
                graph.weights[node] = 0;
                graph.weights[size] += 1;
                graph.done += 1;
            } else {
                graph.lists.push(degree as usize, node);
            }
        }
        graph.marks[size] = 0;
        Ok(graph)
    }

    /// The nodes in the order in which they are eliminated.
    fn order(mut self) -> Result<Vec<usize>> {
        while self.done < self.size as i64 {
            while self.least_degree < self.size && self.lists.heads[self.least_degree] == NONE {
                self.least_degree += 1;
            }
            let pivot = self.lists.heads[self.least_degree];
            if pivot == NONE {
                kernlink::bail!(Internal, "{} of {} nodes are ordered and no other is left", self.done, self.size);
            }
            self.eliminate(pivot)?;
        }
        self.postorder()
    }

    fn eliminate(&mut self, pivot: usize) -> Result<()> {
        self.lists.remove(self.least_degree, pivot);
        let mut weight = self.weights[pivot];
        self.done += weight;
        self.weights[pivot] = -weight;
        let (connected, mut degree) = self.connect(pivot)?;
        self.degrees[pivot] = degree;
        self.count_outside(&connected);
        let mut hashes: Vec<(usize, usize)> = Vec::new();
        for &node in &connected {
            match self.update(node, pivot) {
                Some(hash) => scratch::push(&mut hashes, (hash, node))?,
                None => {
                    // Nothing but the pivot is next to it: it goes with the pivot.
                    let own = -self.weights[node];
                    degree -= own;
                    weight += own;
                    self.done += own;
                    self.weights[node] = 0;
                    self.parents[node] = pivot;
                }
            }
        }
        self.degrees[pivot] = degree;
        self.greatest_degree = self.greatest_degree.max(degree);
        self.mark += self.greatest_degree;
        self.merge_equals(&hashes)?;
        self.finish(pivot, connected, degree, weight);
        Ok(())
    }

    /// The variables that the elimination of the pivot connects, and how many nodes they stand for.
    fn connect(&mut self, pivot: usize) -> Result<(Vec<usize>, i64)> {
        let (mut connected, mut degree) = (Vec::new(), 0);
        let elements = std::mem::take(&mut self.elements[pivot]);
        for source in elements.into_iter().chain([pivot]) {
            for node in std::mem::take(&mut self.variables[source]) {
                let weight = self.weights[node];
                if weight <= 0 {
                    continue;
                }
                degree += weight;
                self.weights[node] = -weight;
                scratch::push(&mut connected, node)?;
                self.lists.remove(self.degrees[node] as usize, node);
            }
            if source != pivot {
                self.parents[source] = pivot;
                self.marks[source] = 0;
            }
        }
        Ok((connected, degree))
    }

    /// Counts of each element next to the connected variables how many nodes it connects that are not among these.
    fn count_outside(&mut self, connected: &[usize]) {
        for &node in connected {
            let weight = -self.weights[node];
            for &element in &self.elements[node] {
                if self.marks[element] >= self.mark {
                    self.marks[element] -= weight;
                } else if self.marks[element] != 0 {
                    self.marks[element] = self.degrees[element] + self.mark - weight;
                }
            }
        }
    }

    /// Brings a variable next to the pivot up to date; returns the hash of what is next to it, or nothing if only the pivot is.
    fn update(&mut self, node: usize, pivot: usize) -> Option<usize> {
        let (mut degree, mut hash) = (0, 0usize);
        let mut elements = std::mem::take(&mut self.elements[node]);
        elements.retain(|&element| {
            if self.marks[element] == 0 {
                return false;
            }
            let outside = self.marks[element] - self.mark;
            if outside > 0 {
                degree += outside;
                hash = hash.wrapping_add(element);
            } else {
                self.parents[element] = pivot;
                self.marks[element] = 0;
            }
            outside > 0
        });
        let mut variables = std::mem::take(&mut self.variables[node]);
        variables.retain(|&other| {
            let weight = self.weights[other];
            if weight > 0 {
                degree += weight;
                hash = hash.wrapping_add(other);
            }
            weight > 0
        });
        if degree == 0 {
            return None;
        }
        self.degrees[node] = self.degrees[node].min(degree);
        // The pivot comes first, what was first goes to the end.
        elements.push(pivot);
        let last = elements.len() - 1;
        elements.swap(0, last);
        if !variables.is_empty() {
            variables.rotate_left(1);
        }
        self.elements[node] = elements;
        self.variables[node] = variables;
        Some(hash % self.size)
    }

    /// Merges connected variables next to which the same nodes are: such have the same hash.
    fn merge_equals(&mut self, hashes: &[(usize, usize)]) -> Result<()> {
        // Those of a hash, the last first.
        let mut sorted: Vec<(usize, usize)> = scratch::collected(hashes.iter().map(|&(hash, _)| hash).zip(0..))?;
        sorted.sort_unstable_by_key(|&(hash, n)| (hash, std::cmp::Reverse(n)));
        for bucket in sorted.chunk_by(|a, b| a.0 == b.0) {
            let mut bucket: Vec<usize> = scratch::collected(bucket.iter().map(|&(_, n)| hashes[n].1))?;
            while bucket.len() > 1 {
                let node = bucket.remove(0);
                for &other in self.elements[node][1..].iter().chain(&self.variables[node]) {
                    self.marks[other] = self.mark;
                }
                bucket.retain(|&other| {
                    let equal = self.elements[other].len() == self.elements[node].len()
                        && self.variables[other].len() == self.variables[node].len()
                        && self.elements[other][1..]
                            .iter()
                            .chain(&self.variables[other])
                            .all(|&next| self.marks[next] == self.mark);
                    if equal {
                        self.weights[node] += self.weights[other];
                        self.weights[other] = 0;
                        self.parents[other] = node;
                    }
                    !equal
                });
                self.mark += 1;
            }
        }
        Ok(())
    }

    /// Puts the connected variables that are left back into the lists, and makes the pivot the element that connects them.
    fn finish(&mut self, pivot: usize, mut connected: Vec<usize>, degree: i64, weight: i64) {
        connected.retain(|&node| {
            let own = -self.weights[node];
            if own <= 0 {
                return false;
            }
            self.weights[node] = own;
            let degree = (self.degrees[node] + degree - own).min(self.size as i64 - self.done - own);
            self.lists.push(degree as usize, node);
            self.least_degree = self.least_degree.min(degree as usize);
            self.degrees[node] = degree;
            true
        });
        self.weights[pivot] = weight;
        if connected.is_empty() {
            self.parents[pivot] = NONE;
            self.marks[pivot] = 0;
        }
        self.variables[pivot] = connected;
    }

    /// The nodes of the tree of what absorbed what, each after its children: variables after elements.
    fn postorder(self) -> Result<Vec<usize>> {
        let mut heads = scratch::filled(NONE, self.size + 1)?;
        let mut next = scratch::filled(NONE, self.size + 1)?;
        let is_element = |node: usize| self.weights[node] > 0;
        let nodes = (0..=self.size).rev();
        for node in nodes.clone().filter(|&node| !is_element(node)).chain(nodes.filter(|&node| is_element(node))) {
            let parent = self.parents[node];
            if parent != NONE {
                next[node] = std::mem::replace(&mut heads[parent], node);
            }
        }
        let mut order = scratch::room(self.size + 1)?;
        let mut path = Vec::new();
        for root in (0..=self.size).filter(|&node| self.parents[node] == NONE) {
            scratch::push(&mut path, root)?;
            while let Some(&node) = path.last() {
                match heads[node] {
                    NONE => {
                        path.pop();
                        order.push(node);
                    }
                    child => {
                        heads[node] = next[child];
                        scratch::push(&mut path, child)?;
                    }
                }
            }
        }
        order.truncate(self.size);
        Ok(order)
    }
}
