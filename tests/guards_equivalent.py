"""Guards whose absence changes nothing that can be seen, each with the reason."""

_LUA = "approvals/scripts/"
_GATE = "worker/gate.py | "

EQUIVALENT: dict[str, str] = {
    _LUA + "_checks.lua | if version ~= c.version or (generation and generation ~= '' and generation ~= b.generation)"
    " then | generation → true": "every caller hands one over, an empty one for none",
    _LUA + "_prelude.lua | if state == 'pending_review' and was ~= state then | was ~= state → true": (
        "an edited call is put into sets in which it is already"
    ),
    _LUA + "_prelude.lua | if values[i] and values[i] ~= '' then row[field] = values[i] end | values[i] → true": (
        "Redis answers false for what is absent, and nothing tells false from nil"
    ),
    _LUA + "cancel_run.lua | local waits = r.state == 'paused' and exec('SCARD', key.unanswered(run, r.pause)) > 0"
    " | r.state == 'paused' → true": "only a paused run has calls that it still waits for",
    _LUA + "cancel_run.lua | local waits = r.state == 'paused' and exec('SCARD', key.unanswered(run, r.pause)) > 0"
    " | exec('SCARD', key.unanswered(run, r.pause)) > 0 → true": (
        "a paused run that waits for nothing any more was ended by the withdrawal of its last call"
    ),
    _LUA + "claim.lua | if not snapshots[user] or stale(user, snapshots[user]) then return"
    " { 'stale_person', 'user', user } end | not snapshots[user] → false": (
        "a snapshot that was not handed over equals no stored one, and who was never seen was seen too long ago"
    ),
    _LUA + "refresh.lua | if c.version == version and c.seal == seal and not c.refreshing and c.edit_by then"
    " | not c.refreshing → true": "while an edit is checked no seal is stored that another one could equal",
    _LUA + "refresh.lua | if c.state ~= 'pending_review' or not c.refreshing then return"
    " { 'wrong_state', 'state', c.state } end | c.state ~= 'pending_review' → false": (
        "whoever leaves review is not being checked any more, which the second half notices"
    ),
    _LUA + "withdraw.lua | if c.state == 'rejected' and c.cause == 'withdrawn' and c.decided_by == by then return"
    " { 'repeated' } end | c.state == 'rejected' → true": "only a rejected call has the cause 'withdrawn'",
    _GATE + "if need.mode is Mode.FORBIDDEN: | if need.mode is Mode.FORBIDDEN: → if False:": (
        "a law that forbids it now is a stricter one, and asking again ends in the same refusal"
    ),
    _GATE + "return Passed.WAITS if seen.standing is Standing.STALE else await self |"
    " return Passed.WAITS if seen.standing is Standing.STALE else await self → return await self": (
        "no snapshots are handed to the claim then, which waits for them all the same"
    ),
    _GATE + 'if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN: effects |'
    ' if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN: effects →'
    " if content.requirement.mode is Mode.FORBIDDEN: effects": "the law forbids what cannot be read",
    _GATE + 'if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN: return |'
    ' if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN: return →'
    " if content.requirement.mode is Mode.FORBIDDEN: return": "the law forbids what cannot be read",
    "worker/pause.py | if not is_call_id(call_id) or call_id not in watch.issued: |"
    " if not is_call_id(call_id) or call_id not in watch.issued: → if call_id not in watch.issued:": (
        "every id that was issued has the shape of one"
    ),
    _LUA + "close_alert.lua | if e.closed_by and e.closed_at_version == e.desired then return { 'repeated' } end"
    " | e.closed_by → true": "both fields are written together, and an alert that is owed has a version",
    "worker/placing.py | lapse_s=min(needs | lapse_s=min(needs → lapse_s=max(needs": (
        "one law gives all its calls the same lapse"
    ),
    "worker/batches.py | Passed.LOST if beat.lost.is_set() else await |"
    " Passed.LOST if beat.lost.is_set() else await → await": (
        "the store refuses every further word of a worker that lost the batch; the loop only ends sooner"
    ),
    "worker/batches.py | if passed is Passed.LOST: | if passed is Passed.LOST: → if False:": (
        "the store refuses every further word of a worker that lost the batch; the loop only ends sooner"
    ),
    "worker/refresh.py | or call.state is not State.PENDING_REVIEW or not call.refreshing: |"
    " or call.state is not State.PENDING_REVIEW or not call.refreshing: → or not call.refreshing:": (
        "only a call in review is being checked"
    ),
}
