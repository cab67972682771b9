"""Plays many mutants: `python -m tests.robustness.fuzz --count 20000 --seed 1`.

Prints what must never be, with the mutant; statistics at the end; exits 1 if anything was found. A mutant is made of the seed and its number alone:
`--only N` plays one again and prints it.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random

from tests.robustness import play, seeds
from tests.robustness.mutate import Mutant, mutant

POLICY_SHARE = 5
"""One mutant in so many is of policy: each costs as much as 30 run documents."""


def make(seed: int, number: int) -> tuple[str, tuple[str, ...], Mutant]:
    """Mutant `number`: whose it is, where it stands, and itself."""
    random = Random(f"{seed}/{number}")
    if number % POLICY_SHARE:
        seed_run = random.choice(seeds.runs())
        others = [random.choice(seeds.runs()).data] if random.random() < 0.03 else []
        return "run", (seed_run.workspace,), mutant([seed_run.data, *others], random, seeds.fields("Run"))
    project = random.choice(tuple(seeds.PROJECTS))
    files = seeds.policy_files(project)
    path = random.choice(tuple(files))
    kind = random.choice(files[path])["kind"]
    return "policy", (project, path), mutant(files[path], random, tuple(("spec", *f[1:]) for f in seeds.fields(kind) if f[0] == "spec"))


def faults(seed: int, number: int) -> tuple[play.Faults, Mutant, str]:
    """Play mutant `number`."""
    what, where, made = make(seed, number)
    found = play.run(*where, made.text) if what == "run" else play.policy(*where, made.text)
    return found, made, "/".join((what, *where))


def search(seed: int, numbers: Iterator[int] | range) -> Iterator[str]:
    """Everything that must never be, with what brings it about."""
    for number in numbers:
        found, made, where = faults(seed, number)
        yield from (f"#{number} {where} [{made.done}]: {fault}" for fault in found)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    if args.only is not None:
        found, made, where = faults(args.seed, args.only)
        sys.stdout.write(f"{where}: {made.done}\n{made.text.decode('utf-8', 'replace')}\n" + "\n".join(found) + f"\n{found.rules}\n")
        return bool(found)
    began, bad, rules, clean = time.perf_counter(), 0, Counter[str](), 0
    for number in range(args.start, args.start + args.count):
        found, made, where = faults(args.seed, number)
        rules.update(set(found.rules))
        clean += not found.rules
        if found:
            bad += 1
            for fault in found:
                sys.stdout.write(f"#{number} {where} [{made.done}]: {fault}\n")
            sys.stdout.flush()
    seconds = time.perf_counter() - began
    sys.stdout.write(
        f"{args.count} mutants, seed {args.seed}: {clean} accepted, {bad} with a fault, {len(rules)} rules seen, {seconds:.0f} s\n"
    )
    sys.stdout.write("  ".join(f"{rule} {count}" for rule, count in rules.most_common()) + "\n")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
