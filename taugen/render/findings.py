"""What findings about overlays mean, by their ids: `taugen explain RULE` shows it."""

FINDINGS = {
    "overlay-file": "A file of an overlay can't be read: it is no regular file, or has more than 256 KiB.",
    "overlay-identity": (
        "A patch would change what an object is: its apiVersion, kind, name or namespace, its labels and annotations of taugen.dev/, or "
        "the labels by which Kueue queues it. Policy and rules have judged the object as that, and a live run is known by it: the patch "
        "is refused."
    ),
    "overlay-patch": (
        "A patch can't be read, or does not fit an object that it is for: an operation points to nothing, an element of a merged list "
        "lacks the key that tells it, a directive is not supported. The object stays as it was."
    ),
    "overlay-target": (
        "What a patch is for can't be read, or nothing of that kind is ever rendered. Patterns match the whole text, as in kustomize; no "
        "quantifier follows a bracket and at most four * and + are taken, since a name to match may come from anybody."
    ),
    "overlay-text": "A label or annotation has a number or a boolean as its value. The API server takes text only: quote it.",
    "overlay-unknown": "A cluster names an overlay that is neither a folder of the repository's overlays nor ships with taugen.",
    "overlay-unused": "No object of any cluster that names the overlay is meant by this patch: its target is probably misspelt.",
}
