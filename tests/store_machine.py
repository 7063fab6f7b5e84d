"""Whoever touches one run, as a Hypothesis state machine: each rule does one thing to the store and to its model."""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from approvals.lifecycle import State
from builders import ANA, BEN, REQUESTER
from store_worlds import BothWorlds

CYD = "U0CYD"
PEOPLE = st.sampled_from([ANA, BEN, CYD, ANA, BEN, CYD, REQUESTER])
SIGHTS = st.sampled_from(["fresh", "fresh", "fresh", "fresh", "old", "guest"])
NUMBERS = st.integers(0, 999)
SHAPES = st.lists(st.sampled_from(["one", "one", "two", "auto"]), min_size=1, max_size=5)
BEHIND = st.sampled_from([0, 0, 0, 0, 1])
POSTED = st.sampled_from([True, True, True, True, True, False])
ENDS = ("succeed", "lease", "claim", "intend", "succeed", "fail", "abandon", "unclaim", "release")


class StoreMachine(BothWorlds):
    """One run, all its pauses, and whoever touches it."""

    # The run.

    @initialize(barrier=st.sampled_from(["batch", "pause"]), shape=SHAPES, posted=POSTED)
    def begin(self, barrier: str, shape: list[str], posted: bool) -> None:  # noqa: FBT001 - drawn
        self.model.barrier = barrier
        self.steps.start(barrier)
        self.pause(shape, posted=posted)

    @precondition(lambda self: self.model.state == "ready")
    @rule(shape=SHAPES, posted=POSTED)
    def resume(self, shape: list[str], posted: bool) -> None:  # noqa: FBT001 - drawn
        self.pause(shape, posted=posted)

    def pause(self, shape: list[str], *, posted: bool) -> None:
        self.taken["steps"] += 1
        calls, batches = self.steps.shaped(shape, self.model.pause + 1, self.fresh)
        self.steps.pause(calls, self.fresh("worker"))
        self.model.paused(calls, batches)
        for batch in batches:
            if posted and batch.carded:
                self.do("post", key=batch.key)

    # People.

    @precondition(lambda self: any(batch.carded and not batch.posted for batch in self.model.batches.values()))
    @rule(number=NUMBERS)
    def post(self, number: int) -> None:
        self.do("post", key=self.batch(number, lambda batch: batch.carded and not batch.posted).key)

    @rule(number=NUMBERS, who=PEOPLE, sight=SIGHTS, behind=BEHIND)
    def approve(self, number: int, who: str, sight: str, behind: int) -> None:
        call = self.call(number, State.PENDING_REVIEW)
        self.do("approve", key=call.key, version=max(1, call.version - behind), who=who, sight=sight)

    @precondition(lambda self: self.model.asked(self.model.calls.values()))
    @rule(number=NUMBERS)
    def enough_people_agree(self, number: int) -> None:
        call = self.call(number, State.PENDING_REVIEW)
        for who in (ANA, BEN):
            self.do("approve", key=call.key, version=call.version, who=who, sight="fresh")

    @rule(number=NUMBERS, who=PEOPLE, sight=SIGHTS, behind=BEHIND)
    def reject(self, number: int, who: str, sight: str, behind: int) -> None:
        call = self.call(number, State.PENDING_REVIEW)
        self.do("reject", key=call.key, version=max(1, call.version - behind), who=who, sight=sight)

    @rule(number=NUMBERS, who=PEOPLE, sight=SIGHTS, behind=BEHIND, words=st.sampled_from(["less", "least"]))
    def edit(self, number: int, who: str, sight: str, behind: int, words: str) -> None:
        call = self.call(number, State.PENDING_REVIEW)
        version = max(1, call.version - behind)
        self.do("edit", key=call.key, version=version, who=who, sight=sight, arguments=words)

    @precondition(lambda self: any(call.refreshing for call in self.model.calls.values()))
    @rule(
        number=NUMBERS,
        behind=BEHIND,
        found=st.sampled_from(["nothing", "nothing", "drift", "forbidden"]),
        needed=st.sampled_from([1, 1, 2]),
    )
    def refresh(self, number: int, behind: int, found: str, needed: int) -> None:
        checked = [call for call in self.model.calls.values() if call.refreshing]
        call = checked[number % len(checked)]
        seal, version = self.fresh("seal"), max(1, call.version - behind)
        self.do("refresh", key=call.key, version=version, seal=seal, found=found, needed=needed)

    @precondition(lambda self: self.model.asked(self.model.calls.values()))
    @rule(number=NUMBERS, found=st.sampled_from(["nothing", "nothing", "drift", "forbidden"]))
    def an_edit_is_made_and_checked(self, number: int, found: str) -> None:
        call, who = self.call(number, State.PENDING_REVIEW), (ANA, BEN, CYD)[number % 3]
        made = self.do("edit", key=call.key, version=call.version, who=who, sight="fresh", arguments=f"{number} less")
        if made == "ok":
            self.do("refresh", key=call.key, version=call.version, seal=self.fresh("seal"), found=found, needed=1)

    @rule(number=NUMBERS, who=st.sampled_from([REQUESTER, ANA]))
    def withdraw(self, number: int, who: str) -> None:
        if number % 8 == 7:
            self.do("withdraw", key=self.call(number, State.PENDING_REVIEW, State.APPROVED).key, who=who)

    # Workers.

    @precondition(lambda self: any(self.model.has_work(batch) for batch in self.model.batches))
    @rule(number=NUMBERS, last=st.sampled_from(ENDS))
    def a_worker_comes_by(self, number: int, last: str) -> None:
        """The gate's way of a call, up to its last step; whoever comes next finds what is left."""
        if any(self.model.has_work(batch) for batch in self.model.batches):
            self.lease_batch(number)
        if last == "lease" or not self.leases:
            return
        self.judge_held(number)
        self.claim(number, "fresh", "sealed")
        if last in {"unclaim", "release"}:
            self.give_the_claim_back(0 if last == "unclaim" else 2)
        elif last != "claim" and self.claims:
            self.intend(0)
            if last != "intend" and self.intended:
                self.tell_what_happened(0, last)
        if number % 2:
            self.finish(0)

    @precondition(lambda self: self.model.asked(self.model.calls.values()))
    @rule(number=NUMBERS, last=st.sampled_from(ENDS))
    def the_usual_way(self, number: int, last: str) -> None:
        """Posted, agreed to, taken up by a worker: what sequences would need long to come upon by chance."""
        self.post(number)
        self.enough_people_agree(number)
        self.a_worker_comes_by(number, last)

    @precondition(lambda self: any(self.model.has_work(batch) for batch in self.model.batches))
    @rule(number=NUMBERS)
    def lease_batch(self, number: int) -> None:
        batch, token = self.batch(number, lambda batch: self.model.has_work(batch.key)), self.fresh("worker")
        if self.do("lease_batch", batch=batch.key, token=token) == "ok":
            self.leases.append((batch.key, token, batch.epoch))

    @precondition(lambda self: self.leases)
    @rule(number=NUMBERS)
    def finish(self, number: int) -> None:
        self.do("finish", lease=self.leases[-1 - number % min(3, len(self.leases))])

    @precondition(lambda self: self.leases)
    @rule(number=NUMBERS, sight=SIGHTS, seal=st.sampled_from(["sealed", "sealed", "sealed", "sealed", "another"]))
    def claim(self, number: int, sight: str, seal: str) -> None:
        call, lease = self.under_lease(number, State.APPROVED)
        token, found = self.fresh("claim"), call.seal if seal == "sealed" else seal
        version = call.version
        if self.do("claim", key=call.key, lease=lease, token=token, seal=found, sight=sight) == "ok":
            self.claims.append((call.key, token, version))

    @precondition(lambda self: self.leases)
    @rule(number=NUMBERS)
    def judge_held(self, number: int) -> None:
        call, lease = self.under_lease(number, State.PROPOSED)
        if number % 3:
            self.do("auto_approve", key=call.key, lease=lease)
        else:
            self.do("forbid", key=call.key, lease=lease, reason="the law says no")

    @precondition(lambda self: self.leases)
    @rule(number=NUMBERS)
    def refuse_or_revoke(self, number: int) -> None:
        call, lease = self.under_lease(number, State.APPROVED)
        if number % 3 == 0:
            self.do("refuse", key=call.key, lease=lease, reason="a cap is reached")
        else:
            self.do("revoke", key=call.key, lease=lease, seal=self.fresh("seal"))

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS)
    def intend(self, number: int) -> None:
        """The only place where the effect of this test happens: directly after an intent that was taken down."""
        claim = self.claims[-1 - number % min(3, len(self.claims))]
        if self.do("intend", key=claim[0], token=claim[1]) == "ok":
            self.effects.append(claim[0])
            self.intended.append(claim)

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS)
    def give_the_claim_back(self, number: int) -> None:
        if not self.claims:
            return
        key, token, version = self.claims[-1 - number % min(3, len(self.claims))]
        if number % 4 == 0:
            self.do("unclaim", key=key, token=token)
        elif number % 4 == 1:
            self.do("renew", key=key, token=token)
        elif number % 4 == 2:
            self.do("release", key=key, token=token, version=version + 1, seal=self.fresh("seal"))
        else:
            self.do("abandon", key=key, token=token)

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS, word=st.sampled_from(["intend", "unclaim", "abandon", "release", "renew"]))
    def a_lost_worker_comes_back(self, number: int, word: str) -> None:
        """Its lease ran out, another one has taken the call up, and now it speaks again."""
        key, token, version = self.claims[-1]
        self.steps.end_lease_of_call(self.model.calls[key])
        self.do("lost_lease", key=key)
        self.steps.end_lease_of_batch(self.model.batches[self.model.calls[key].batch])
        self.a_worker_comes_by(number, "claim")
        more = {"version": version + 1, "seal": self.fresh("seal")} if word == "release" else {}
        if self.do(word, key=key, token=token, **more) == "ok" and word == "intend":
            self.effects.append(key)

    @precondition(lambda self: self.intended)
    @rule(number=NUMBERS, verb=st.sampled_from(["succeed", "succeed", "fail", "abandon"]))
    def tell_what_happened(self, number: int, verb: str) -> None:
        key, token, _ = self.intended[-1 - number % min(3, len(self.intended))]
        self.do(verb, key=key, token=token)

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS)
    def crash(self, number: int) -> None:
        """A worker forgets its claim; the lease is what remains, and it runs out."""
        claim = self.claims.pop(-1 - number % min(3, len(self.claims)))
        self.steps.end_lease_of_call(self.model.calls[claim[0]])

    @precondition(lambda self: any(call.state is State.UNKNOWN for call in self.model.calls.values()))
    @rule(number=NUMBERS, happened=st.booleans())
    def settle(self, number: int, happened: bool) -> None:  # noqa: FBT001 - drawn
        self.do("settle", key=self.call(number, State.UNKNOWN).key, who="U0OPS", happened=happened)

    # Operators, replays, and time.

    @rule(number=NUMBERS)
    def freeze_or_unfreeze(self, number: int) -> None:
        if self.model.frozen or number % 5 == 4:
            self.model.frozen = not self.model.frozen
            self.steps.freeze(frozen=self.model.frozen)

    @precondition(lambda self: self.log)
    @rule(number=NUMBERS)
    def replay(self, number: int) -> None:
        """Anything that was ever sent arrives again. (An effect is not a message; what it needs is.)"""
        verb, arguments = self.log[number % len(self.log)]
        if self.do(verb, **arguments) == "ok" and verb == "intend":
            self.effects.append(arguments["key"])

    @rule(number=NUMBERS, what=st.sampled_from(["decide", "check", "day", "post", "execute", "lease"]))
    def time_passes(self, number: int, what: str) -> None:
        if what == "lease":
            self.steps.end_lease_of_batch(self.batch(number, lambda batch: batch.leased))
        elif what == "execute":
            self.steps.end_time_of_call(self.call(number, State.APPROVED), what)
        elif number % 6 == 1:
            self.steps.end_time_of_batch(self.batch(number, lambda batch: batch.carded), what)

    @precondition(lambda self: any(call.state is State.UNKNOWN for call in self.model.calls.values()))
    @rule(number=NUMBERS, what=st.sampled_from(["unknown", "unknown-alert"]))
    def nobody_can_tell_for_long(self, number: int, what: str) -> None:
        self.steps.end_time_of_call(self.call(number, State.UNKNOWN), what)
        self.sweep(number, "answer_unknown" if what == "unknown" else "alert_unknown")

    @precondition(lambda self: self.model.asked(self.model.calls.values()))
    @rule(number=NUMBERS, what=st.sampled_from(["unknown", "unknown-alert"]))
    def nobody_ever_hears_of_it(self, number: int, what: str) -> None:
        """Agreed to and begun by a worker that is never heard of again."""
        self.the_usual_way(number, "intend")
        if self.claims:
            self.crash(0)
            self.sweep(number, "lost_lease")
        if any(call.state is State.UNKNOWN for call in self.model.calls.values()):
            self.nobody_can_tell_for_long(number, what)

    @precondition(lambda self: any(call.state is State.APPROVED for call in self.model.calls.values()))
    @rule(number=NUMBERS)
    def no_worker_comes_in_time(self, number: int) -> None:
        self.steps.end_time_of_call(self.call(number, State.APPROVED), "execute")
        self.sweep(number, "lapse")

    @precondition(lambda self: self.model.calls)
    @rule(number=NUMBERS)
    def the_clock_comes_by(self, number: int) -> None:
        self.sweep(number)

    def sweep(self, number: int, only: str = "") -> None:
        """One of the deadlines that are over; `only` those of a verb."""
        due = [one for one in self.steps.due() if only in {"", one[0]}]
        if due:
            self.taken["steps"] += 1
            self.look()
            self.looked = False
            verb, subject = due[number % len(due)]
            self.taken[verb] += 1
            for _ in range(2):  # there may be several clocks
                real, told = self.steps.apply(verb, subject), getattr(self.model, verb)(subject)
                assert real == told, f"{verb} of {subject}: the store says {real}, the model {told}"

    @invariant()
    def everything_holds(self) -> None:
        self.looked = False
        self.look()
        assert len(self.effects) == len(set(self.effects)), f"an effect happened twice: {self.effects}"
        assert set(self.effects) == self.watchman.intended
