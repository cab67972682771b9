from planner.rollout import rollout

for episode in range(5):
    print("episode", episode, "return", rollout(seed=episode))
