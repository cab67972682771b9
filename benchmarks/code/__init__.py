"""Plans of run @run@."""
