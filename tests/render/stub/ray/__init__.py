"""As much of Ray as the search driver uses."""
