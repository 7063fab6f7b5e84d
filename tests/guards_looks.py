"""The guards in Python around a look at the gate: what it finds, when it fails, and how often it is tried.

As in `guards_python.py`: file, exact text, and its absence.
"""

_GATE, _BATCHES, _BOUNDED = "worker/gate.py", "worker/batches.py", "worker/bounded.py"
_JUDGING = "worker/judging.py"

LOOKS: tuple[tuple[str, str, str], ...] = (
    # What gives no answer keeps nothing else from running.
    (_GATE, "seconds=LONGEST_S,", "seconds=3600,"),
    (_GATE, "if clock.time() > until:", "if False:"),
    (_GATE, "if clock.time() > until:", "if True:"),
    (_BOUNDED, "task.cancel()", "pass"),
    (_BOUNDED, "if not done:", "if False:"),
    (_BOUNDED, "timeout=CLEANS_UP_S", "timeout=None"),
    (_BOUNDED, "if task.cancelled():", "if False:"),
    (_BATCHES, "key=lambda call: _failed_before(deps, call)", "key=lambda call: call.number"),
    (_BATCHES, "except ValueError:", "except ZeroDivisionError:"),
    # A look that fails is waited for, in growing pauses, and claims nothing a second time.
    (_GATE, "if self.lease.in_vain:", "if False:"),
    (_GATE, "if preview_failed(looked, need, content) and not call.content.preview.generic:", "if False:"),
    (
        _GATE,
        "if preview_failed(looked, need, content) and not call.content.preview.generic:",
        "if preview_failed(looked, need, content):",
    ),
    (_JUDGING, "wanted = has_one and looked.problem is None", "wanted = looked.problem is None"),
    (_JUDGING, "and need.mode is not Mode.FORBIDDEN\n    return wanted", "\n    return wanted"),
    (_BATCHES, "in_vain = lease.in_vain + 1 if Passed.FAILED in became else 0", "in_vain = 0"),
    (_BATCHES, "if Passed.FAILED in became else 0", "if True else 0"),
    (_BATCHES, "AGAIN_MS if Passed.WAITS in became else pause_ms(in_vain)", "pause_ms(in_vain)"),
    (_BATCHES, "return became | {Passed.WAITS}", "return became"),
    (_BATCHES, "min(LATE_MS, AGAIN_MS <<", "max(LATE_MS, AGAIN_MS <<"),
    ("worker/runs.py", "read=read, patience=patience)", "read=read, patience=Patience())"),
    # What nobody could look up when people were asked; what others took only after the claim.
    (_GATE, "return [*([more] if more else []), *difference(old, new)]", "return difference(old, new)"),
    (_GATE, "return [*([more] if more else []), *difference(old, new)]", "return [more] if more else []"),
    ("worker/drift.py", "if old.problem and not new.problem:", "if False:"),
    (_GATE, "self._as_it_is_now(call, door, read)", "self._as_it_is_now(call, door)"),
    ("approvals/caps.py", "then.get(place, minor)", "minor"),
)
