"""SavedModels."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._kernlink import MetaGraph, SessionOptions, Signature, load_saved_model
from ._kernlink import tag_sets as _tag_sets

# A SavedModel that was loaded is the one of its graphs that was chosen.
SavedModel = MetaGraph

__all__ = ["SavedModel", "Signature", "load", "tag_sets"]


def load(
    export_dir: str | os.PathLike[str],
    tags: str | Sequence[str] | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    prepare: Sequence[str] = (),
    options: SessionOptions | None = None,
    threads: int = 0,
    device: str | None = None,
) -> SavedModel:
    """Loads a SavedModel: its variables are restored and its initialiser has run.

        model = kernlink.saved_model.load("model")
        model.signatures["serving_default"](x=[[1.0, 2.0]])

    Args:
      export_dir: the model's folder.
      tags: the tags of the graph, all of them; by default `serve`, or whatever the only graph has. `tag_sets` lists them.
      checkpoint: from which the variables get other values than they were saved with: its prefix, or a folder for the latest in it.
      prepare: the signatures whose first run is to take no longer than others.
      options: how it runs.
      threads: on how many threads it runs; 0 for as many as `options` says, or one per processor.
      device: on which device it runs, `cpu`, `gpu` or `gpu:K`, whatever `options` says.

    Returns:
      The model; `signatures` has its functions, by name.

    Raises:
      kernlink.errors.NotFoundError: if there is no model, or no graph with the tags.
      kernlink.errors.FailedPreconditionError: if the package is built without GPUs, and one is asked for.
    """
    from ._progress import waiting

    wanted = [tags] if isinstance(tags, str) else None if tags is None else list(tags)
    with waiting("loading"):
        return load_saved_model(
            os.fspath(export_dir),
            wanted,
            None if checkpoint is None else os.fspath(checkpoint),
            list(prepare),
            options,
            threads,
            device,
        )


def tag_sets(export_dir: str | os.PathLike[str]) -> list[list[str]]:
    """The tags of each graph of a SavedModel, which is not loaded for that.

    Args:
      export_dir: the model's folder.

    Returns:
      A list of tags for each graph.

    Raises:
      kernlink.errors.NotFoundError: if there is no model.
    """
    return _tag_sets(os.fspath(export_dir))
