"""SavedModels."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._kernlink import SavedModel, Signature, load_saved_model

__all__ = ["SavedModel", "Signature", "load"]


def load(export_dir: str | os.PathLike[str], tags: str | Sequence[str] | None = None, *, threads: int = 0) -> SavedModel:
    """Loads a SavedModel: its variables are restored and its initialiser has run.

        model = kernlink.saved_model.load("model")
        model.signatures["serving_default"](x=[[1.0, 2.0]])

    Args:
      export_dir: the model's folder.
      tags: the tags of the graph, all of them; by default `serve`, or whatever the only graph has.
      threads: on how many threads it runs; 0 for one per processor.

    Returns:
      The model; `signatures` has its functions, by name.

    Raises:
      kernlink.errors.NotFoundError: if there is no model, or no graph with the tags.
    """
    wanted = [tags] if isinstance(tags, str) else None if tags is None else list(tags)
    return load_saved_model(os.fspath(export_dir), wanted, threads)
