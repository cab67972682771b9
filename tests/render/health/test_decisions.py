"""What follows from verdicts, with a clock that the tests turn: conditions, shares, patches."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.render.health.scripts.gpuhealth import decide, judge, patches, share
from taugen.render.health.scripts.gpuhealth.config import Config, Rule, Taint, Target, gpus
from taugen.render.health.scripts.gpuhealth.judge import OK, PROBLEM, UNKNOWN
from taugen.render.health.scripts.gpuhealth.settle import Track, step

TAINT = Taint("taugen.dev/gpu-health", "NoSchedule")
SOFT = Taint("taugen.dev/gpu-health-network", "PreferNoSchedule")
RULE = Rule(after=120, clear_after=600, event="Warning", taint=TAINT)


def config(**changes: Any) -> Config:
    base: dict[str, Any] = {
        "gpu_class": "h100-80gb",
        "policy": "h100",
        "lease": "gpu-health-h100-80gb",
        "interval": 60,
        "share": "25%",
        "gates": False,
        "checks": (),
        "rules": {"GpuXid": RULE, "GpuHot": Rule(0, 0, "Normal", None), "IbLink": Rule(0, 60, "Warning", SOFT)},
        "targets": (Target((("pool", "h100"),), 8),),
        "prefix": "taugen.dev/",
        "taint_prefix": "taugen.dev/gpu-health",
    }
    return Config(**{**base, **changes})


def play(*states: str, rule: Rule = RULE, every: float = 60, track: Track | None = None) -> list[Track]:
    """The states of a condition, one sample a minute."""
    out, now = [track or Track()], 0.0
    for state in states:
        out.append(step(out[-1], state, f"{state} at {now:g}", now, rule))
        now += every
    return out[1:]


# ------------------------------------------------------------------------------------------------------------- settling


def test_a_fault_has_to_last() -> None:
    assert [t.holds for t in play(PROBLEM, PROBLEM, PROBLEM, PROBLEM)] == [False, False, True, True]
    assert [t.pending for t in play(PROBLEM, PROBLEM, PROBLEM)] == [True, True, False]


def test_a_fault_that_goes_away_starts_anew() -> None:
    assert not any(t.holds for t in play(*[PROBLEM, PROBLEM, OK] * 10))


def test_recovery_has_to_last_too() -> None:
    held = Track(holds=True)
    assert [t.holds for t in play(*[OK] * 11, track=held)] == [True] * 10 + [False]
    assert all(t.holds for t in play(*([OK] * 9 + [PROBLEM]) * 5, track=held))


def test_what_can_t_be_told_begins_and_ends_nothing() -> None:
    assert not any(t.holds for t in play(*[UNKNOWN] * 1000))
    assert all(t.holds for t in play(*[UNKNOWN] * 1000, track=Track(holds=True)))
    assert [t.status for t in play(UNKNOWN, OK, UNKNOWN)] == ["Unknown", "False", "Unknown"]
    assert play(UNKNOWN, track=Track(holds=True))[0].status == "True"


def test_what_can_t_be_told_does_not_count_as_time() -> None:
    """A node whose program hangs every second time: only what was seen counts."""
    tracks = play(*[PROBLEM, UNKNOWN] * 20)
    assert not any(t.holds for t in tracks)
    tracks = play(PROBLEM, PROBLEM, UNKNOWN, UNKNOWN, PROBLEM, PROBLEM)
    assert [t.holds for t in tracks] == [False] * 5 + [True]


def test_at_once() -> None:
    assert play(PROBLEM, rule=Rule(0, 0, "Warning", None))[0].holds
    assert not play(PROBLEM, OK, rule=Rule(0, 0, "Warning", None))[1].holds


def test_the_message_is_that_of_the_fault_until_it_is_cleared() -> None:
    tracks = play(PROBLEM, PROBLEM, PROBLEM, OK, UNKNOWN, PROBLEM)
    assert [t.message for t in tracks[2:]] == ["problem at 120", "problem at 120", "problem at 120", "problem at 300"]


@given(st.lists(st.tuples(st.sampled_from([OK, PROBLEM, UNKNOWN]), st.floats(0, 1000)), max_size=60))
def test_nothing_holds_without_enough_fault_and_ends_without_enough_health(samples: list[tuple[str, float]]) -> None:
    track, now, bad, good, last = Track(), 0.0, 0.0, 0.0, ""
    for state, passed in samples:
        now += passed
        bad = bad + passed * (last == state) if state == PROBLEM else 0.0 if state == OK else bad
        good = good + passed * (last == state) if state == OK else 0.0 if state == PROBLEM else good
        after = step(track, state, "", now, RULE)
        if after.holds and not track.holds:
            assert state == PROBLEM
            assert bad >= RULE.after - 1e-6
        if track.holds and not after.holds:
            assert state == OK
            assert good >= RULE.clear_after - 1e-6
        track, last = after, state


# -------------------------------------------------------------------------------------------------------------- judging


def test_the_worst_check_of_a_condition_decides() -> None:
    ok, open_, bad = (judge.Result(state, state) for state in (OK, UNKNOWN, PROBLEM))
    assert judge.worst([ok, open_, bad]) is bad
    assert judge.worst([ok, open_]) is open_
    assert judge.worst([ok, ok]).state == OK


@pytest.mark.parametrize("code", [3, 126, 127, 255])
def test_an_exit_code_that_no_check_has_is_no_verdict(code: int) -> None:
    assert judge.judge(CHECK, judge.Answer(code, "gpu0 99"), {}, 0)[0].state == UNKNOWN


CHECK = judge.Check("c", "c.sh", (), "increase", "errors", 5, 300, 20, "C")


def counted(*values: tuple[float, int | str]) -> list[judge.Result]:
    samples: judge.Samples = {}
    out = []
    for now, value in values:
        result, samples = judge.judge(CHECK, judge.Answer(0, f"gpu0 {value}\n"), samples, now)
        out.append(result)
    return out


def test_a_counter_is_judged_by_its_growth_within_the_window() -> None:
    assert [r.value for r in counted((0, 1000), (60, 1002), (120, 1006))] == [0, 2, 6]
    assert counted((0, 1000), (60, 1002), (120, 1006))[-1].state == PROBLEM
    assert counted((0, 0), (400, 100))[-1].state == OK, "the sample before is older than the window"


def test_a_counter_that_was_reset_counts_from_nothing() -> None:
    assert [r.value for r in counted((0, 1000), (60, 3), (120, 4))] == [0, 3, 4]


def test_a_torn_answer_keeps_the_samples() -> None:
    samples: judge.Samples = {"gpu0": [(0.0, 10.0)]}
    for answer in (judge.Answer(None, "x"), judge.Answer(2, "x"), judge.Answer(0, "no value")):
        assert judge.judge(CHECK, answer, samples, 60)[1] == samples


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    for code in (None, 0, 1, 2, 3):
        found, _ = judge.judge(CHECK, judge.Answer(code, text), {}, 0)
        assert found.message.isprintable()
        assert len(found.message) <= judge.LONGEST
        assert found.state in {OK, PROBLEM, UNKNOWN}


# -------------------------------------------------------------------------------------------------------------- shares


def node(name: str, *taints: Taint, **conditions: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "resourceVersion": "7", "labels": {"pool": "h100"}},
        "spec": {"taints": [{"key": t.key, "effect": t.effect} for t in taints]},
        "status": {"conditions": [{"type": f"taugen.dev/{kind}", "status": status} for kind, status in conditions.items()]},
    }


@pytest.mark.parametrize(
    ("text", "nodes", "most"), [("25%", 16, 4), ("10%", 16, 1), ("10%", 9, 0), ("3", 16, 3), ("3", 2, 2), ("0", 5, 0), ("100%", 7, 7)]
)
def test_shares(text: str, nodes: int, most: int) -> None:
    assert share.most(text, nodes) == most


def test_the_share_of_a_class() -> None:
    nodes = [node(f"n{at}") for at in range(8)]
    assert share.grant(nodes, "n0", "25%", [TAINT], []).ok
    nodes[1:3] = [node("n1", TAINT), node("n2", SOFT)]
    assert share.grant(nodes, "n0", "25%", [TAINT, SOFT], []) == share.Grant(False, 2, 2, 8)
    assert share.grant(nodes, "n1", "25%", [TAINT, SOFT], []).ok, "a node that is out of work already is no further one"
    assert not share.grant(nodes, "elsewhere", "25%", [TAINT], []).ok, "a node that is none of the class gets no taint"


def test_taints_of_others_don_t_use_up_the_share() -> None:
    nodes = [
        node("n0"),
        node("n1", Taint("nvidia.com/gpu", "NoSchedule")),
        node("n2", Taint("node.kubernetes.io/unreachable", "NoExecute")),
    ]
    assert share.grant(nodes, "n0", "1", [TAINT], []) == share.Grant(True, 0, 1, 3)


def test_a_gate_counts_as_the_taint_that_it_asks_for() -> None:
    gate = patches.gate("taugen.dev/", TAINT)
    nodes = [node("n0"), node("n1")]
    nodes[1]["status"]["conditions"] = [{"type": gate, "status": "True"}]
    assert share.grant(nodes, "n0", "1", [TAINT], [gate]) == share.Grant(False, 1, 1, 2)


# ------------------------------------------------------------------------------------------------------------- patches


def test_taints_of_others_stay_as_and_where_they_are() -> None:
    there = node("n", Taint("a/b", "NoSchedule"), TAINT, Taint("c/d", "NoExecute"))
    there["spec"]["taints"][0]["timeAdded"] = "2026-03-04T05:06:07Z"
    assert patches.taints(there, [TAINT], "taugen.dev/gpu-health") is None
    gone = patches.taints(there, [], "taugen.dev/gpu-health")
    assert gone is not None
    assert gone["spec"]["taints"] == [there["spec"]["taints"][0], there["spec"]["taints"][2]]
    more = patches.taints(there, [SOFT, TAINT], "taugen.dev/gpu-health")
    assert more is not None
    assert more["spec"]["taints"] == [*there["spec"]["taints"], {"key": SOFT.key, "effect": SOFT.effect}]
    assert more["metadata"] == {"resourceVersion": "7"}, "a change in between refuses it"


def test_a_taint_that_policy_has_no_more_is_taken_away() -> None:
    there = node("n", Taint("taugen.dev/gpu-health-old", "NoSchedule"))
    gone = patches.taints(there, [], "taugen.dev/gpu-health")
    assert gone is not None
    assert gone["spec"]["taints"] == []


def test_a_taint_whose_key_only_looks_like_ours_stays() -> None:
    assert patches.taints(node("n", Taint("taugen.dev/reserved", "NoSchedule")), [], "taugen.dev/gpu-health") is None


def test_conditions_are_written_when_they_change() -> None:
    wanted = {"taugen.dev/GpuXid": ("True", "CheckFailed", "Xid 79")}
    first = patches.conditions(node("n"), wanted, "T1", beat=False)
    assert first is not None
    (entry,) = first["status"]["conditions"]
    assert (entry["status"], entry["lastTransitionTime"], entry["lastHeartbeatTime"]) == ("True", "T1", "T1")
    there = {**node("n"), "status": {"conditions": [entry]}}
    assert patches.conditions(there, wanted, "T2", beat=False) is None
    beat = patches.conditions(there, wanted, "T2", beat=True)
    assert beat is not None
    assert (beat["status"]["conditions"][0]["lastTransitionTime"], beat["status"]["conditions"][0]["lastHeartbeatTime"]) == ("T1", "T2")
    other = patches.conditions(there, {"taugen.dev/GpuXid": ("True", "CheckFailed", "Xid 48")}, "T2", beat=False)
    assert other is not None
    assert other["status"]["conditions"][0]["lastTransitionTime"] == "T1", "another message is no transition"


# ----------------------------------------------------------------------------------------------------------- decisions


def tracks(**holds: bool) -> dict[str, Track]:
    return {name: Track(holds=holds.get(name, False), last=OK, message="m") for name in config().rules}


def test_new_taints_need_a_grant_and_old_ones_none() -> None:
    wanted = decide.wanted_taints(config(), tracks(GpuXid=True, IbLink=True, GpuHot=True))
    assert wanted == [TAINT, SOFT]
    yes, no = share.Grant(True, 0, 1, 4), share.Grant(False, 1, 1, 4)
    assert decide.granted(config(), node("n"), wanted, yes) == [TAINT, SOFT]
    assert decide.granted(config(), node("n"), wanted, no) == []
    assert decide.granted(config(), node("n", TAINT), wanted, no) == [TAINT]
    assert decide.granted(config(), node("n", TAINT), wanted, None) == [TAINT]


def test_where_another_controller_taints_a_condition_asks_for_it() -> None:
    gated = config(gates=True)
    shown = decide.conditions(gated, tracks(GpuXid=True), [TAINT])
    gates = {kind: status for kind, (status, _, _) in shown.items() if "Unfit" in kind}
    assert gates == {"taugen.dev/Unfit-gpu-health-NoSchedule": "True", "taugen.dev/Unfit-gpu-health-network-PreferNoSchedule": "False"}
    withheld = decide.conditions(gated, tracks(GpuXid=True), [])
    assert withheld["taugen.dev/GpuXid"][0] == "True"
    assert withheld["taugen.dev/Unfit-gpu-health-NoSchedule"][0] == "False"
    assert not any("Unfit" in kind for kind in decide.conditions(config(), tracks(), []))


def test_a_gate_is_never_unknown() -> None:
    """The Node Readiness Controller would taint for anything but False."""
    shown = decide.conditions(config(gates=True), {name: Track() for name in config().rules}, [])
    assert {status for kind, (status, _, _) in shown.items() if "Unfit" in kind} == {"False"}
    assert {status for kind, (status, _, _) in shown.items() if "Unfit" not in kind} == {"Unknown"}


def test_a_restart_goes_on_where_the_node_stands() -> None:
    found = decide.resumed(config(), node("n", GpuXid="True", GpuHot="Unknown", IbLink="False"))
    assert {name: track.holds for name, track in found.items()} == {"GpuXid": True, "GpuHot": False, "IbLink": False}


def test_events_tell_of_beginnings_and_ends() -> None:
    events = list(decide.transitions(config(), tracks(IbLink=True), tracks(GpuHot=True, GpuXid=True)))
    assert [(e.kind, e.reason) for e in events] == [("Warning", "GpuXid"), ("Normal", "GpuHot"), ("Normal", "IbLinkCleared")]


def test_a_healthy_node_s_conditions_don_t_change_with_every_value() -> None:
    one, two = ({n: Track(last=OK, message=f"at most {t} degrees") for n in config().rules} for t in (60, 61))
    assert decide.conditions(config(), one, []) == decide.conditions(config(), two, [])


def test_gpus_of_a_node_by_its_labels() -> None:
    both = config(targets=(Target((("pool", "h100"),), 8), Target((("half", "yes"), ("pool", "h100")), 4)))
    assert gpus(both, {"pool": "h100", "x": "y"}) == 8
    assert gpus(both, {"pool": "h100", "half": "yes"}) == 4
    assert gpus(both, {"pool": "a100"}) == 0
