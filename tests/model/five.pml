/*
 * five.pml: the five phases (docs/decisions/0027-update.md) under the worst network there can be.
 *
 * A manager, two subscribers with a flow each, three switches. Shown: no packet meets old and new
 * entries, no flow is on base addresses while entries are a mixture, no packet can overtake one
 * that was sent before it. That updates end is shown by five_ends.pml. tests/model/test_five_model.py
 * runs both, whole and with rules left out (the names under "Broken variants"), which must be found out.
 *
 * What is left out, and why that is sound (every run of the protocol is still a run of the model):
 *
 * - Datagrams: one that was ever sent may arrive at any later moment, any number of times, or never.
 *   So loss, delay, order and repetition are all there, and nobody needs to repeat anything. What
 *   counts of the mail under way is a set: `told` has UNPATH and REPATH by epoch, `answered` the
 *   epochs of CONFIRMs of the present serial, `done` whether DONE of the present epoch was said.
 *   Mail that the receiver is bound to ignore (older epochs and serials) is dropped from the sets.
 * - HEARD and NOTED only stop repetitions and start patience. The manager may call off, and give up
 *   waiting in phase 4, at any time here; so they change nothing and are left out.
 * - Time: of a round of SUBSCRIBE only this counts: is its *fencing moment* (first sending + lease -
 *   margin) still ahead? Moments pass in the order of rounds, whenever Time likes. At that moment the
 *   subscriber leaves base unless a later round is confirmed (a timer that fires late belongs to the
 *   margin). The manager's lease, counted from its receipt of a round's datagram, ends after that round's
 *   moment plus margin; so it can end only when the moments of all rounds it received have passed and
 *   draining, which takes no longer than a margin, is over. That is the one assumption about time:
 *   margin >= draining + late timers + difference of the clocks over a lease. At most two rounds have
 *   their moment ahead at once (rules: up to three; a third, older one, allows nothing new: its receipt and
 *   its confirmation are those of an older round, which are there).
 * - Packets: any packet can be the one that is watched; the others of its flow share its fate. With
 *   it under way, whatever is sent must go by the same address and entries. One flow is watched in a run,
 *   either; the other is drained the moment it likes.
 * - Switches: a block each. Within an update copies of a block's datagram are all the same.
 * - Subscriber 1 sends SUBSCRIBE in one round only (it is fenced once, for good), 0 for ever.
 */
#ifndef UPDATES
#define UPDATES 1
#endif
#define NOBODY 2
#ifndef MORTAL /* who may die at any time */
#define MORTAL NOBODY
#endif
/*
 * Configurations (-D…): UPDATES=2; MORTAL=0 or 1; PLAIN: subscriber 1 is there from the beginning, its
 * lease does not end while it is alive, and flow 0 is watched; REJOIN: subscriber 0 may unsubscribe and subscribe again;
 * RESTART: the manager may forget everything, once (with UPDATES=1).
 */

/*
 * Broken variants (-D…):
 *   NO_WAIT       programs without waiting for the last DONE
 *   NO_DRAIN      a flow migrates with packets under way
 *   DONE_EARLY    DONE on hearing UNPATH, before the flow is drained
 *   TRUST         who does not answer is taken for dead (the thesis)
 *   NO_FENCE      leases, but no leaving at the fencing moment
 *   REPATH_EARLY  REPATH before all switches confirmed
 *   NO_SERIAL     a CONFIRM of any round counts for the present one
 *   CONFIRM_LATE  a CONFIRM counts after its round's fencing moment
 *   REPATH_FENCE  REPATH brings a fenced subscriber back
 *   FORGET        who does not answer REPATH is forgotten
 *   BLIND         "all ranks have migrated" without saying where to
 *   LATE_BLOCK    a block of an earlier update arrives in a later one
 *   UNSUB_LATE    UNSUBSCRIBE is heeded whatever its serial (with -DREJOIN)
 *   RANK0         rank 0 dies alone, its ranks go on (with a MORTAL)
 *   HASTY         a manager that has just started does not wait for a lease (with -DRESTART)
 *   EVEN          it takes base entries for good, and begins with an even epoch (with -DRESTART)
 * Reachable, must be violated: -DREACH (both flows back on base under new entries).
 */
#define SWITCHES 3
/* addresses */
#define NONE 0
#define BASE 1
#define HIGH 2
/* places of a subscriber */
#define OUTSIDE 0
#define ON_BASE 1
#define LEAVING 2
#define ON_HIGH 3
#define RETURNING 4
/* phases of the manager */
#define IDLE 0
#define LEAVE 1
#define PROGRAM 2
#define RETURN 3
/* rounds of SUBSCRIBE. VOID: its fencing moment has passed */
#define NO_ROUND 0
#define SENT 1
#define RECEIVED 2  /* by the manager */
#define CONFIRMED 3 /* to the subscriber */
#define VOID 4
/* what a watched packet has met */
#define NOTHING 7

byte table[SWITCHES]; /* which update's entries a switch has for base addresses */
byte new_table;       /* that of the last update that was programmed */
#define uniform (table[0] == table[1] && table[1] == table[2])

/* The manager. */
byte phase, epoch, updates;
bit in[2];   /* subscribed, as the manager sees it */
bit done[2]; /* DONE of the present, odd epoch is under way to the manager, or it came in later */

/* Subscribers. */
bit alive[2];
byte place[2], heard[2] /* newest epoch */;
byte now[2], before[2]; /* the present round; the one before it while its moment is ahead */
bit margin[2];          /* the manager's lease is over but for the margin: flows drain */
byte told[2], answered[2];
bit unfenced; /* of broken variants only; 0 between steps */
#ifdef BLIND
byte report[2];
#endif
#ifdef REJOIN
bit left;  /* UNSUBSCRIBE of subscriber 0 was sent (so it may arrive at any time) */
bit newer; /* the manager's entry is of a newer serial */
#endif
#ifdef RESTART
bit restarted, fresh; /* fresh: nothing is known of base entries: this update cannot be called off */
#define may_call_off !fresh
#else
#define may_call_off true
#endif

/* Flows. hop: 0: no packet under way, 1 to 3: the switch that it comes to, 4: on high addresses. */
byte at[2], hop, met, watched;

#define odd(e) ((e) & 1)
#define bit_of(e) (1 << (e))
#define held(i) (now[i] == CONFIRMED || before[i] == CONFIRMED)
#define known(r) ((r) == RECEIVED || (r) == CONFIRMED)
#define target(i) ((place[i] == ON_BASE || place[i] == RETURNING) -> BASE : HIGH)
#define moving(i) (place[i] == LEAVING || place[i] == RETURNING)
#ifdef RANK0
#define ranks(i) true
#else
#define ranks(i) alive[i]
#endif
#define sending(i) (ranks(i) && place[i] != OUTSIDE && at[i] == target(i))
#define packets(i) (watched == i && hop != 0)
#define lease_over(i) (!known(now[i]) && !known(before[i]) && (alive[i] -> !margin[i] : !packets(i)))
#define missing(i) (in[i] && !done[i])

inline say_done(i) {
    if
    :: (place[i] == ON_HIGH || place[i] == OUTSIDE) && heard[i] == epoch && odd(epoch) ->
        printf("subscriber %d: DONE(%d)\n", i, epoch);
        done[i] = 1
    :: else
    fi
}

/* Where flows belong: to base addresses under a lease and an even epoch. (Rules 1, 3, 5, 7.) */
inline decide(i) {
    if
    :: (held(i) || unfenced) && !odd(heard[i]) ->
        if
        :: place[i] == OUTSIDE -> place[i] = ON_BASE; at[i] = BASE; printf("subscriber %d: begins on base\n", i)
        :: place[i] == LEAVING -> printf("subscriber %d: returns\n", i); place[i] = RETURNING; margin[i] = 0
        :: place[i] == ON_HIGH -> printf("subscriber %d: returns\n", i); place[i] = RETURNING
        :: else
        fi
    :: else ->
        if
        :: place[i] == OUTSIDE && held(i) -> printf("subscriber %d: begins on high\n", i); place[i] = ON_HIGH; at[i] = HIGH
        :: place[i] == ON_BASE || place[i] == RETURNING -> printf("subscriber %d: leaves\n", i); place[i] = LEAVING
        :: else
        fi
    fi;
    unfenced = 0;
#ifdef DONE_EARLY
    if
    :: place[i] == LEAVING && heard[i] == epoch && odd(epoch) -> done[i] = 1
    :: else
    fi;
#endif
    say_done(i);
    /* mail that no longer says anything */
    told[i] = told[i] & ~((bit_of(heard[i]) << 1) - 1);
    if
    :: answered[i] & ((bit_of(heard[i]) << 1) - 1) ->
        answered[i] = answered[i] & ~((bit_of(heard[i]) << 1) - 1);
        if
        :: now[i] != CONFIRMED -> answered[i] = answered[i] | bit_of(heard[i])
        :: else
        fi
    :: else
    fi
}

inline tell(i) {
    if
    :: in[i] -> told[i] = told[i] | bit_of(epoch)
    :: else
    fi
}
inline next_epoch() {
    epoch++;
    printf("manager: epoch %d\n", epoch);
    done[0] = 0; done[1] = 0;
    tell(0); tell(1)
}

proctype Manager() {
    do
    :: atomic { phase == IDLE && updates < UPDATES -> updates++; next_epoch(); phase = LEAVE }
#ifdef NO_WAIT
    :: atomic { phase == LEAVE && (!missing(0) || !missing(1)) -> printf("manager: programs\n"); phase = PROGRAM; new_table++ }
#else
    :: atomic { phase == LEAVE && !missing(0) && !missing(1) -> printf("manager: programs\n"); phase = PROGRAM; new_table++ }
#endif
    :: atomic { phase == LEAVE && may_call_off -> next_epoch(); phase = RETURN }
#ifdef REPATH_EARLY
    :: atomic { phase == PROGRAM -> next_epoch(); phase = RETURN }
#else
    :: atomic { phase == PROGRAM && uniform && table[0] == new_table -> next_epoch(); phase = RETURN;
#ifdef RESTART
        fresh = 0
#endif
        }
#endif
    :: atomic { phase == RETURN -> phase = IDLE } /* all are done, or are not waited for */
#ifdef RESTART
    /*
     * A new manager: its first epoch is above all others and odd, and for a lease it takes it that
     * anybody may be subscribed (so `in`: who is, has said DONE by then, or its lease is over). It
     * tells nobody, since it knows nobody: who renews gets to know.
     */
    :: atomic { !restarted ->
        restarted = 1; fresh = 1;
        printf("manager: restarts\n");
        in[0] = 0; in[1] = 0;
        if
        :: odd(epoch) -> epoch++
        :: else
        fi;
#ifdef EVEN
        next_epoch(); epoch++; fresh = 0; phase = IDLE;
#else
        next_epoch(); phase = LEAVE;
#ifndef HASTY
        in[0] = 1; in[1] = 1
#endif
#endif
        }
#endif
    od
}

/* The manager's list: SUBSCRIBE comes, leases end. */
inline enlist(i) {
    if
    :: !in[i] -> in[i] = 1; done[i] = odd(epoch); /* it begins on high addresses: nobody to wait for */
        if
        :: phase == LEAVE || phase == RETURN -> tell(i)
        :: else
        fi
    :: else
    fi
}
#define confirmable(i) (now[i] != NO_ROUND && now[i] != VOID && !(now[i] == CONFIRMED && epoch <= heard[i]))
proctype Desk(byte i) {
    do
    /* a copy of the present round's */
    :: atomic { confirmable(i) && (!in[i] || now[i] == SENT || !(answered[i] & bit_of(epoch))) ->
        printf("manager: SUBSCRIBE of %d, CONFIRM(epoch %d)\n", i, epoch);
        if
        :: now[i] == SENT -> now[i] = RECEIVED
        :: else
        fi;
#ifdef REJOIN
        newer = newer || (left && i == 0);
#endif
        enlist(i);
        answered[i] = answered[i] | bit_of(epoch) }
    /* a copy of an earlier round's, or one that comes too late: its CONFIRM is ignored */
    :: atomic { before[i] == SENT -> before[i] = RECEIVED;
#ifdef REJOIN
        newer = newer || (left && i == 0);
#endif
        enlist(i) }
    :: atomic { !in[i] && now[i] != NO_ROUND && now[i] != SENT -> 
        printf("manager: an old SUBSCRIBE of %d\n", i);
        enlist(i)
#ifdef CONFIRM_LATE
        ; answered[i] = answered[i] | bit_of(epoch)
#endif
        }
    :: atomic { in[i] && lease_over(i) -> printf("manager: lease of %d is over\n", i); in[i] = 0; done[i] = 0;
#ifdef REJOIN
        if
        :: i == 0 -> newer = 0
        :: else
        fi
#endif
        }
#ifdef REJOIN
#ifdef UNSUB_LATE
    :: atomic { i == 0 && left && in[i] ->
#else
    :: atomic { i == 0 && left && in[i] && !newer ->
#endif
        printf("manager: UNSUBSCRIBE of %d\n", i);
        in[i] = 0; done[i] = 0; newer = 0 }
#endif
#ifdef TRUST
    :: atomic { phase == LEAVE && missing(i) -> printf("manager: %d does not answer\n", i); in[i] = 0; done[i] = 0 }
#endif
#ifdef FORGET
    :: atomic { phase == RETURN && in[i] -> printf("manager: %d does not answer\n", i); in[i] = 0; done[i] = 0 }
#endif
    od
}

proctype Subscriber(byte i) {
    byte e;
    do
    /* a round: the first, a renewal, or instead of one that was void */
    :: atomic { alive[i] && (now[i] == NO_ROUND || (i == 0 && (now[i] == VOID || before[i] == NO_ROUND))) ->
        if
        :: now[i] == VOID -> before[i] = NO_ROUND
        :: else -> before[i] = now[i]
        fi;
        now[i] = SENT;
        printf("subscriber %d: SUBSCRIBE, a new round\n", i);
#ifndef NO_SERIAL
        answered[i] = 0
#endif
        }
    /* CONFIRM of the present round, with one of the epochs it was sent with */
    :: atomic { alive[i] && answered[i] ->
        e = 0;
        do
        :: e < 4 && (answered[i] >> (e + 1)) -> e++
        :: answered[i] & bit_of(e) -> break
        od;
        if
        :: now[i] != VOID -> now[i] = CONFIRMED
        :: else -> unfenced = 1 /* CONFIRM_LATE */
        fi;
        printf("subscriber %d: CONFIRM(epoch %d) comes\n", i, e);
        if :: e > heard[i] -> heard[i] = e :: else fi;
        e = 0;
        decide(i) }
    /* UNPATH or REPATH of a newer epoch (also before the first CONFIRM) */
    :: atomic { alive[i] && told[i] ->
        e = 1;
        do
        :: e < 4 && (told[i] >> (e + 1)) -> e++
        :: told[i] & bit_of(e) -> break
        od;
        heard[i] = e;
        printf("subscriber %d: hears of epoch %d\n", i, e);
#ifdef REPATH_FENCE
        unfenced = 1;
#endif
        e = 0;
        decide(i) }
#ifdef REJOIN
    :: atomic { i == 0 && !left && alive[i] && !packets(i) && (place[i] == ON_BASE || place[i] == ON_HIGH) ->
        printf("subscriber %d: UNSUBSCRIBE\n", i);
        left = 1; place[i] = OUTSIDE; at[i] = NONE;
        now[i] = VOID; before[i] = NO_ROUND; answered[i] = 0; margin[i] = 0 }
#endif
    /* all flows have migrated */
#ifdef BLIND
    :: atomic { alive[i] && moving(i) && report[i] != NONE -> report[i] = NONE;
#else
    :: atomic { alive[i] && moving(i) && at[i] == target(i) ->
#endif
        printf("subscriber %d: all have migrated\n", i);
        place[i] = (place[i] == LEAVING -> ON_HIGH : ON_BASE);
        margin[i] = 0;
        say_done(i) }
    od
}

proctype Flow(byte i) {
    byte k;
    do
    :: atomic { watched == i && sending(i) && hop == 0 ->
        if
        :: at[i] == BASE -> printf("flow %d: a packet on base\n", i); assert(uniform); hop = 1; met = NOTHING
        :: else -> hop = 4
        fi }
    /* another one behind it: by the same address, by the same entries */
    :: atomic { watched == i && sending(i) && hop != 0 ->
        assert((at[i] == HIGH) == (hop == 4));
        assert(at[i] == HIGH || (uniform && (met == NOTHING || met == table[0]))) }
    :: atomic { watched == i && hop == 4 -> hop = 0 }
    :: atomic { watched == i && hop >= 1 && hop <= SWITCHES ->
        k = (i == 0 -> hop - 1 : SWITCHES - hop);
        printf("flow %d: the packet meets entries %d at switch %d\n", i, table[k], k);
        assert(met == NOTHING || met == table[k]);
        met = table[k];
        if
        :: hop < SWITCHES -> hop++
        :: else -> hop = 0; met = 0
        fi;
        k = 0 }
#ifdef NO_DRAIN
    :: atomic { alive[i] && moving(i) && at[i] != target(i) ->
#else
    :: atomic { alive[i] && moving(i) && at[i] != target(i) && !packets(i) ->
#endif
        printf("flow %d: migrates\n", i);
        at[i] = target(i);
#ifdef BLIND
        report[i] = at[i]
#endif
        }
#ifdef BLIND
    :: atomic { alive[i] && moving(i) && at[i] == target(i) && report[i] == NONE -> report[i] = at[i] }
#endif
    od
}

proctype Switch(byte k) {
    do
    :: atomic { table[k] != new_table -> printf("switch %d: new entries\n", k); table[k] = new_table }
#ifdef LATE_BLOCK
    :: atomic { table[k] > 1 -> printf("switch %d: a late block\n", k); table[k] = 1 }
#endif
    od
}

/* Fencing moments pass; somebody dies. */
inline moment(i) {
    printf("time: a fencing moment of %d passes\n", i);
    if
    :: before[i] != NO_ROUND -> before[i] = NO_ROUND
    :: else -> now[i] = VOID;
#ifndef CONFIRM_LATE
        answered[i] = 0
#endif
    fi;
#ifndef NO_FENCE
    if
    :: alive[i] ->
        decide(i);
        if
        :: place[i] == LEAVING -> margin[i] = 1
        :: else
        fi
    :: else
    fi
#endif
}
#ifdef PLAIN
#define mortal_lease(i) (i == 0 || !alive[i])
#else
#define mortal_lease(i) true
#endif
proctype Time(byte i) {
    do
    :: atomic { (before[i] != NO_ROUND || (now[i] != NO_ROUND && now[i] != VOID)) && mortal_lease(i) -> moment(i) }
    :: atomic { i == MORTAL && alive[i] -> printf("subscriber %d: dies\n", i); alive[i] = 0 }
    od
}

#ifdef REACH
proctype Reached() {
    atomic {
        epoch == 2 && phase == IDLE && uniform && table[0] == 1 && place[0] == ON_BASE &&
        place[1] == ON_BASE && hop == 3 && met == 1 -> assert(false)
    }
}
#endif

init {
    atomic {
        alive[0] = 1; alive[1] = 1;
#ifdef PLAIN
        in[1] = 1; now[1] = CONFIRMED; place[1] = ON_BASE; at[1] = BASE;
#endif
#ifndef PLAIN
        if
        :: watched = 0
        :: watched = 1
        fi;
#endif
#ifdef REACH
        run Reached();
#endif
        run Manager(); run Desk(0); run Desk(1);
        run Subscriber(0); run Subscriber(1);
        run Flow(0); run Flow(1);
        run Switch(0); run Switch(1); run Switch(2);
        run Time(0); run Time(1)
    }
}
