//! What is asked of functions together with all that they can come to call.

use std::collections::HashMap;

use crate::attr::FunctionRef;
use crate::graph::Graph;

/// For which functions the answer to a question is yes, of themselves or of what they can come to call, by name. A recursive
/// call by itself changes no answer.
#[derive(Default)]
pub(crate) struct Callees {
    answers: HashMap<String, bool>,
}

impl Callees {
    /// The answer for a function. `look` gives that of a function by itself, and what it calls. Each function is looked at
    /// once, however many call it, and none by recursion: libraries may be chains of thousands.
    pub(crate) fn any(
        &mut self,
        graph: &Graph,
        function: &FunctionRef,
        mut look: impl FnMut(&Graph, &FunctionRef) -> (bool, Vec<FunctionRef>),
    ) -> bool {
        if let Some(&known) = self.answers.get(&function.name) {
            return known;
        }
        // Those that it can come to call and of which nothing is known, each with those that call it.
        let mut callers = HashMap::from([(function.name.clone(), Vec::new())]);
        let mut open = vec![function.clone()];
        let mut with = Vec::new();
        while let Some(caller) = open.pop() {
            let (mut answer, calls) = look(graph, &caller);
            for call in calls {
                match (self.answers.get(&call.name), callers.get_mut(&call.name)) {
                    (Some(&known), _) => answer |= known,
                    (None, Some(callers)) => callers.push(caller.name.clone()),
                    (None, None) => {
                        callers.insert(call.name.clone(), vec![caller.name.clone()]);
                        open.push(call);
                    }
                }
            }
            if answer {
                with.push(caller.name);
            }
        }
        self.answers.extend(callers.keys().map(|name| (name.clone(), false)));
        while let Some(name) = with.pop() {
            with.extend(callers.remove(&name).unwrap_or_default());
            self.answers.insert(name, true);
        }
        self.answers[&function.name]
    }
}
