"""For processes of a test that nobody wants to wait a minute for: an outage of the store is told after seconds."""

from approvals import outages

outages.TELL_AFTER_S = 6.0
outages.LOOK_EVERY_S = 1.0
