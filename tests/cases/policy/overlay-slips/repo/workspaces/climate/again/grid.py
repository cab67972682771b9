def load():
    return "grid"
