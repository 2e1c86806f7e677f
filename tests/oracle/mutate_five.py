"""Mutants of the machines of the five phases.

Each breaks a rule of docs/decisions/0027-update.md. oracle_test_five watches the machines from
outside: what leaves flows under tables that change the random trials have to find by themselves
(trials); what else is wrong, they or the unit tests.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_five.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.marks import drop, expr, operand, stmt, term, through  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "trials": ("trials", "1500", "1"),
    "unit": ("unit",),
    "manager": ("manager",),
}
trials = partial(mutant, by="trials")
unit = partial(mutant, by="unit")
manager = partial(mutant, by="manager")

MUTANTS = [
    # ---- the manager ----
    trials("lease_renew", 1, "a renewal does not lengthen a lease", stmt("if ($1 == 0) $0")),
    trials("join_epoch", 1, "who joins while others leave is told the epoch before",
           term("$0 - (kind == SV_FIVE_CONFIRM && odd)")),
    manager("unpath_once", 2, "UNPATH is sent once", expr("false")),
    trials("confirm_lease", 2, "who has not answered is confirmed and given more lease",
           expr("false")),
    trials("confirm_asked", 2, "who has not answered is confirmed, and given no more lease",
           stmt("$0 member->confirm = mail->serial; member->owes |= OWES(SV_FIVE_CONFIRM);")),
    manager("noted_next", 3, "NOTED of one epoch is sent in the next", term("$2")),
    manager("done_older", 3, "DONE of an older epoch is not answered", operand("false")),
    trials("done_any", 4, "DONE of any epoch will do", operand("false")),
    trials("heard_done", 4, "having heard is being done",
           stmt("set_state(m, member, SV__DONE); advance(m);")),
    trials("return_waits", 5, "who does not come back is waited for as long as it lives",
           through("&&")),
    trials("expel_trust", 6, "who does not answer is expelled without trust, too", drop()),
    manager("expel_lease", 6, "who does not answer is not given its lease", expr("false"),
            at="return_waits"),
    trials("expel_late", 6, "who is not done in time is expelled", expr("!$1.1 || $1.2 ? $2 : $3")),
    trials("goes_on", 6, "what is called off goes on", stmt("m->missing = 0;")),
    trials("heard_lease", 6, "who has heard has no lease",
           operand("$0 && member->state != SV__HEARD")),
    trials("lease_early", 6, "a lease is over a little early", term("$0 + m->options.margin / 2"),
           at="heard_lease"),
    manager("heard_asked", 6, "without patience whoever has heard is never asked again", drop()),
    trials("bye_earlier", 8, "a farewell of an earlier life counts", expr("false")),
    manager("serial_newest", 8, "the last serial counts, not the newest", operand("true")),
    manager("bye_waits", 8, "who leaves in mid-update is waited for", drop()),
    # ---- an application ----
    trials("lease_confirm", 1, "the lease counts from the confirmation", term("now")),
    trials("confirm_late", 1, "a confirmation is never too late", expr("false")),
    trials("serial_any", 1, "any serial is confirmed", drop()),
    trials("serial_life", 1, "serials of each life begin at 1", term("1")),
    unit("round_ends", 1, "a round goes on until it is confirmed", expr("false")),
    trials("join_base", 1, "who joins comes to base addresses", through(":")),
    trials("join_confirm", 1, "who joins goes by what CONFIRM says", term("mail->epoch & 1"),
           at="join_base"),
    trials("epoch_older", 3, "an older epoch counts", term("$1 == $2")),
    trials("epoch_present", 3, "the present epoch is not answered", operand("false")),
    unit("done_next", 3, "DONE of one epoch is sent in the next", drop()),
    trials("done_before", 3, "DONE is said before flows have migrated",
           operand("($1 == $2 || $1 == SV_FIVE_LEAVING)")),
    trials("done_once", 3, "DONE is said once", operand("false")),
    unit("noted_any", 3, "whatever is noted, it is DONE", drop()),
    unit("back_turns", 3, "who comes back does not turn round", term("$1")),
    unit("leave_called", 6, "who leaves is not called back", term("$1")),
    trials("high_asks", 5, "without a lease who is on high never asks", operand("false")),
    trials("fence_none", 7, "nobody leaves of its own accord", expr("false")),
    trials("fence_lease", 7, "who leaves of its own accord does so when the lease ends", drop()),
    trials("fence_repath", 7, "who left of its own accord comes back by REPATH", through("||")),
    unit("fence_news", 7, "any news ends a fence", stmt("$0 s->fenced = false;")),
    unit("outside_quiet", 8, "who is outside does not answer", drop()),
    unit("bye_serial", 8, "a farewell has the serial of the last round", drop()),
    trials("numbers_round", 1, "numbers do not go round", expr("$1.1 > $1.2")),
]

SUITE = Suite("five", "the five phases", TESTS, MUTANTS, ["tests/oracle/mutate_five.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
