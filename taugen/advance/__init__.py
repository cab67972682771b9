"""What follows from evidence: the next attempt, the end of a run. Needs Git alone, no cluster."""
