"""SavedModels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._kernlink import MetaGraph, SessionOptions, Signature, load_saved_model, path_argument, texts_argument
from ._kernlink import tag_sets as _tag_sets

if TYPE_CHECKING:
    from ._types import PathLike

# A SavedModel that was loaded is the one of its graphs that was chosen.
SavedModel = MetaGraph

__all__ = ["SavedModel", "Signature", "load", "tag_sets"]


def load(
    export_dir: PathLike,
    tags: str | Sequence[str] | None = None,
    *,
    checkpoint: PathLike | None = None,
    prepare: str | Sequence[str] = (),
    options: SessionOptions | None = None,
    threads: int | None = 0,
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

    wanted = None if tags is None else texts_argument("tags", tags)
    with waiting("loading"):
        return load_saved_model(
            path_argument("export_dir", export_dir),
            wanted,
            None if checkpoint is None else path_argument("checkpoint", checkpoint),
            texts_argument("prepare", prepare),
            options,
            threads,
            device,
        )


def tag_sets(export_dir: PathLike) -> list[list[str]]:
    """The tags of each graph of a SavedModel, which is not loaded for that.

    Args:
      export_dir: the model's folder.

    Returns:
      A list of tags for each graph.

    Raises:
      kernlink.errors.NotFoundError: if there is no model.
    """
    return _tag_sets(path_argument("export_dir", export_dir))
