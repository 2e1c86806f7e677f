/*
 * five_ends.pml: the five phases (docs/decisions/0027-update.md) always end.
 *
 * The same manager, two subscribers, three switches as in five.pml, which shows what may never
 * happen under any network. Here is what must happen: with all eight kinds of mail, repetitions,
 * `tries`, HEARD and NOTED. Time goes in ticks: a third of a lease, `retry` and a renewal are one tick, a
 * lease is LEASE ticks, the margin one. A tick comes when nothing else can happen, and the clock stops
 * when all is over: updates, and whoever lives and can be reached is back on base addresses and knows
 * the last epoch. So "there is no end but that of the clock, and no run goes on for ever" (pan -l: no
 * cycle at all, as no step is called progress; and no invalid end state) says: no deadlock, and every update ends.
 *
 * Assumptions, all of which are needed:
 * - Losses are bounded: LOSSES datagrams in a run, whichever. (A run with fair loss and no bound is one of these
 *   after the last loss that matters.) With -DDEAF=i, all mail to subscriber i is lost from some moment on,
 *   without bound; then it need not come back, but updates end.
 * - Mail is faster than a tick, or counts as lost: later mail is in five.pml.
 * - A flow's packets arrive, so draining ends within a tick (five.pml: they meet no mixture).
 * No fairness is assumed.
 *
 * Broken variants (-D…):
 *   HEARD_DEAD  a lease that ends does not matter once HEARD has come (MORTAL)
 *   RENEW       SUBSCRIBE of somebody who is missing renews its lease in phase 2 (DEAF)
 *   NO_NEWS     who was not waited for is told nothing by its renewal (its CONFIRM has no epoch)
 *   ONE_SHOT    DONE is not repeated
 * Not broken: NO_RETRY. UNPATH and REPATH need not be repeated for updates to end, since renewals ask for news
 * and get them; repetitions make it quick.
 */
#ifndef UPDATES
#define UPDATES 1
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#define LEASE 4
#ifndef TRIES
#define TRIES 2
#endif
#define IDLE_TICKS 2 /* at most so many before an update begins */
#ifndef PATIENCE /* 0: for ever, 1: it can end at any time */
#define PATIENCE 1
#endif
#define NOBODY 2
#ifndef MORTAL
#define MORTAL NOBODY
#endif
#ifndef DEAF
#define DEAF NOBODY
#endif

mtype = { SUBSCRIBE, CONFIRM, PATH /* UNPATH or REPATH, by its epoch */, HEARD, DONE, NOTED };
#define OUTSIDE 0
#define ON_BASE 1
#define LEAVING 2
#define ON_HIGH 3
#define RETURNING 4
#define IDLE 0
#define LEAVE 1
#define PROGRAM 2
#define RETURN 3

chan to_subscriber[2] = [8] of { mtype, byte };
chan to_manager[2] = [8] of { mtype, byte };
chan to_switch[3] = [1] of { byte };
chan of_switch[3] = [1] of { byte };

byte phase, epoch, updates, losses;
bit in[2], heard_of[2], done[2], given_up[2], go; /* the manager's */
byte lease[2], idle_ticks;
byte tries[2];
byte table[3], new_table;
bit confirmed[3];

bit alive[2], deaf[2], owes[2], doomed; /* doomed: something happens to MORTAL or DEAF before the next tick */
byte hold[2]; /* ticks of the lease that are left, as the subscriber sees it */
byte place[2], heard[2];

#define held(i) (hold[i] > 1)
#define odd(e) ((e) & 1)
#define missing(i) (in[i] && !done[i])
#define settled(i) ((place[i] == ON_HIGH && odd(heard[i])) || (place[i] == ON_BASE && !odd(heard[i])))

/* (a second copy of what is under way would say nothing new) */
inline mail(c, what, number) {
    if
    :: c ?? [what, eval(number)]
    :: else -> assert(len(c) < 8); c!what(number)
    fi
}

/* ---- the manager ---- */
inline tell(i) {
    heard_of[i] = 0; done[i] = 0; tries[i] = 0; given_up[i] = 0;
    if
    :: in[i] -> tries[i] = 1; mail(to_subscriber[i], PATH, epoch)
    :: else
    fi
}
inline next_epoch() { epoch++; tell(0); tell(1) }
inline expel(i) { in[i] = 0; heard_of[i] = 0; done[i] = 0; tries[i] = 0; given_up[i] = 0 }

#ifdef HEARD_DEAD
#define over(i) (missing(i) && lease[i] == 0 && !heard_of[i])
#else
#define over(i) (missing(i) && lease[i] == 0)
#endif
#define waiting(i) (missing(i) && !given_up[i])

proctype Manager() {
end:
    do
    :: atomic { phase == IDLE && go -> go = 0; updates++; next_epoch(); phase = LEAVE }
    :: atomic { phase == LEAVE && !missing(0) && !missing(1) ->
        phase = PROGRAM; new_table++; confirmed[0] = 0; confirmed[1] = 0; confirmed[2] = 0;
        to_switch[0]!new_table; to_switch[1]!new_table; to_switch[2]!new_table }
    /* out of patience with somebody who has heard: called off */
    :: atomic { phase == LEAVE && PATIENCE && ((missing(0) && heard_of[0]) || (missing(1) && heard_of[1])) ->
        next_epoch(); phase = RETURN }
    :: atomic { phase == PROGRAM && confirmed[0] && confirmed[1] && confirmed[2] -> next_epoch(); phase = RETURN }
    :: atomic { phase == RETURN && !waiting(0) && !waiting(1) -> phase = IDLE }
    :: atomic { phase == LEAVE && over(0) -> expel(0) }
    :: atomic { phase == LEAVE && over(1) -> expel(1) }
    :: atomic { phase == RETURN && over(0) -> expel(0) }
    :: atomic { phase == RETURN && over(1) -> expel(1) }
    od
}

proctype Desk(byte i) {
    mtype kind;
    byte e;
end:
    do
    :: atomic { len(to_manager[i]) > 0 ->
        to_manager[i]?kind(e);
        if
        :: losses < LOSSES -> losses++
        :: true ->
            if
            :: kind == SUBSCRIBE && phase == LEAVE && missing(i) ->
#ifdef RENEW
                lease[i] = LEASE;
#endif
                mail(to_subscriber[i], PATH, epoch)
            :: kind == SUBSCRIBE && !(phase == LEAVE && missing(i)) ->
                if
                :: !in[i] -> in[i] = 1; done[i] = 1 /* not waited for */
                :: else
                fi;
                lease[i] = LEASE;
                mail(to_subscriber[i], CONFIRM, epoch)
            :: kind == HEARD && e == epoch -> heard_of[i] = 1
            :: kind == DONE && e == epoch -> done[i] = 1; mail(to_subscriber[i], NOTED, e)
            :: kind == DONE && e != epoch -> mail(to_subscriber[i], PATH, epoch)
            :: else
            fi
        fi;
        kind = 0; e = 0 }
    od
}

/* Blocks: sent until confirmed; either way can be lost. */
proctype Program(byte k) {
    byte e;
end:
    do
    :: atomic { of_switch[k]?e ->
        if
        :: losses < LOSSES -> losses++
        :: true -> confirmed[k] = 1
        fi;
        e = 0 }
    od
}
proctype Switch(byte k) {
    byte e;
end:
    do
    :: atomic { to_switch[k]?e ->
        if
        :: losses < LOSSES -> losses++
        :: true -> table[k] = e; of_switch[k]!e
        fi;
        e = 0 }
    od
}

/* ---- subscribers ---- */
inline decide(i) {
    if
    :: held(i) && !odd(heard[i]) ->
        if
        :: place[i] == OUTSIDE -> place[i] = ON_BASE
        :: place[i] == LEAVING || place[i] == ON_HIGH -> place[i] = RETURNING
        :: else
        fi
    :: else ->
        if
        :: place[i] == OUTSIDE && held(i) -> place[i] = ON_HIGH
        :: place[i] == ON_BASE || place[i] == RETURNING -> place[i] = LEAVING
        :: else
        fi
    fi
}
inline news(i, e) {
    if
    :: e > heard[i] -> heard[i] = e; owes[i] = 1
    :: else
    fi;
    decide(i)
}

inline say(i) {
    if
    :: owes[i] && (settled(i) || place[i] == OUTSIDE) -> mail(to_manager[i], DONE, heard[i])
    :: else
    fi
}

proctype Subscriber(byte i) {
    mtype kind;
    byte e;
end:
    do
    :: atomic { len(to_subscriber[i]) > 0 ->
        to_subscriber[i]?kind(e);
        if
        :: !alive[i] || deaf[i]
        :: alive[i] && !deaf[i] && losses < LOSSES -> losses++
        :: alive[i] && !deaf[i] ->
            if
            :: kind == CONFIRM -> hold[i] = LEASE;
#ifdef NO_NEWS
                if
                :: place[i] == OUTSIDE -> news(i, e)
                :: else -> decide(i)
                fi
#else
                news(i, e)
#endif
            :: kind == PATH && e >= heard[i] -> news(i, e); mail(to_manager[i], HEARD, e); owes[i] = 1; say(i)
            :: kind == NOTED && e == heard[i] -> owes[i] = 0
            :: else
            fi
        fi;
        kind = 0; e = 0 }
    od
}

/* Draining and migration; death. */
proctype Flow(byte i) {
end:
    do
    :: atomic { alive[i] && place[i] == LEAVING -> place[i] = ON_HIGH; say(i) }
    :: atomic { alive[i] && place[i] == RETURNING -> place[i] = ON_BASE; say(i) }
    :: atomic { i == MORTAL && doomed && alive[i] -> doomed = 0; alive[i] = 0 }
    :: atomic { i == DEAF && doomed && !deaf[i] -> doomed = 0; deaf[i] = 1 }
    od
}

#define fine(i) (!alive[i] || deaf[i] || (place[i] == ON_BASE && heard[i] == epoch))
#define all_over (updates == UPDATES && phase == IDLE && fine(0) && fine(1))

inline tick(i) {
    /* the manager's */
    if
    :: lease[i] > 0 -> lease[i]--
    :: else
    fi;
    if
    :: (phase == LEAVE || phase == RETURN) && missing(i) && !heard_of[i] ->
#ifndef NO_RETRY
        if
        :: tries[i] < TRIES -> tries[i]++; mail(to_subscriber[i], PATH, epoch)
        :: else -> given_up[i] = 1
        fi
#else
        skip
#endif
    :: else
    fi;
    /* the subscriber's */
    if
    :: alive[i] ->
        if
        :: hold[i] > 0 -> hold[i]--
        :: else
        fi;
        decide(i);
        mail(to_manager[i], SUBSCRIBE, 0);
#ifndef ONE_SHOT
        say(i)
#endif
    :: else
    fi
}
inline block(k) {
    if
    :: phase == PROGRAM && !confirmed[k] -> to_switch[k]!new_table
    :: else
    fi
}
inline fate() {
    if
    :: (MORTAL != NOBODY && alive[MORTAL % 2]) || (DEAF != NOBODY && !deaf[DEAF % 2]) -> doomed = 1
    :: true
    fi
}
proctype Clock() {
    do
    :: atomic { timeout ->
        if
        :: all_over -> break
        :: else
        fi;
        fate();
        tick(0); tick(1); block(0); block(1); block(2);
        if
        :: phase == IDLE && updates < UPDATES && idle_ticks < IDLE_TICKS -> idle_ticks++
        :: phase == IDLE && updates < UPDATES -> go = 1
        :: else
        fi }
    od
}

init {
    atomic {
        alive[0] = 1; alive[1] = 1; fate();
        run Manager(); run Desk(0); run Desk(1);
        run Program(0); run Program(1); run Program(2);
        run Switch(0); run Switch(1); run Switch(2);
        run Subscriber(0); run Subscriber(1); run Flow(0); run Flow(1); run Clock()
    }
}
