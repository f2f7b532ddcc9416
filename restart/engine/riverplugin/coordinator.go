package riverplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/straggler-go/straggler/restart/engine"
)

// coordinator decides for all clients, as long as it has the lease. It looks at the running jobs of the named kinds,
// tells them to the phase of their kind, and carries out what the phase asks for. It begins anew with each term of the lease.
type coordinator struct {
	p        *Plugin
	term     int64            // of the lease; 0 if this process does not have it
	machines *engine.Machines // with what earlier coordinators have learnt about each kind
	kinds    map[string]*kind
	active   bool                // jobs of named kinds run somewhere
	todo     []order             // what this turn wants to change in the database
	copies   []int64             // that the last look has shown
	unsure   bool                // there may be others
	looked   time.Time           // when the clients were read that the last look has shown, by the clock of this process
	clients  map[string]*client  // as they were last read
	doubted  time.Time           // when most clients were silent at once
	quiet    []string            // clients that may be lost
	strange  map[place]time.Time // when clients without the plugin were seen in the last strangeFor
	from     time.Time           // ends of attempts before this time are known, by the clock of the database
	swept    time.Time           // of the last removal of old rows
	told     time.Time           // of the last line of the shadow mode
}

// turn looks once and acts once.
func (c *coordinator) turn(ctx context.Context, term int64) (err error) {
	if term == 0 {
		c.term, c.active = 0, false
		return nil
	}
	if c.term != term {
		if err = c.begin(ctx, term); err != nil {
			return err
		}
	}
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	c.tell(v)
	if c.p.options.Shadow {
		c.report()
	} else {
		err = c.carryOut(ctx)
	}
	if err == nil && v.now.Sub(c.swept) > sweepEvery {
		c.swept = v.now
		err = c.sweep(ctx)
	}
	return err
}

// begin begins a term, with what earlier coordinators have learnt about each kind.
func (c *coordinator) begin(ctx context.Context, term int64) error {
	var data []byte
	if err := c.p.own.QueryRow(ctx, c.p.in(`SELECT known FROM SCHEMA.straggler_lease WHERE name = $1`), c.p.lease).Scan(&data); err != nil {
		return err
	}
	*c = coordinator{
		p: c.p, term: term, machines: new(engine.Machines), kinds: map[string]*kind{},
		strange: map[place]time.Time{}, told: time.Now(), unsure: true,
	}
	know := c.machines.Knowledge()
	if err := know.UnmarshalBinary(data); err != nil && data != nil {
		c.p.options.Log.Warn("riverplugin: what was learnt about kinds can't be read, and begins anew", "error", err)
	}
	record := know.Machines() // nil if a later release has saved none
	for number := 0; record != nil && record.Len() > 0 && number < record.Config().MaxMachines; number++ {
		record.Forget(number) // the numbers of the clients are those of another term
	}
	c.p.options.Log.Info("riverplugin: this client coordinates", "client", c.p.client, "term", term)
	return nil
}

// report writes to the log, once a minute, what the shadow mode would have done, one thing for each run of a job, and what is
// known about each kind.
func (c *coordinator) report() {
	for _, o := range c.todo {
		if o.t == nil || o.t.copied {
			continue
		}
		o.t.copied = true
		k := c.kindOf(o.r.Kind)
		if k.imagined[o.verb]++; k.such == "" {
			k.such = fmt.Sprintf(", such as job %d at client %s: %s", o.r.ID, o.r.Client, o.why)
		}
	}
	if c.looked.Sub(c.told) < time.Minute {
		return
	}
	c.told = c.looked
	args := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		k := c.kinds[name]
		longest, known := c.machines.Knowledge().Longest(name, 0)
		args = append(args, name, fmt.Sprintf("copies %d, rescues %d%s; the longest of %d known run times is %.3gs",
			k.imagined[copies], k.imagined[rescues], k.such, known, longest))
		k.imagined, k.such = [drops]int{}, ""
	}
	c.p.options.Log.Info("riverplugin: shadow mode: in the last minute there would have been", args...)
}

// order is what a turn wants to change in the database about a row.
type order struct {
	verb  int
	r     *row
	t     *task
	name  string // of a copy, in the phase
	avoid []string
	why   string
}

// The verbs of orders: to copy a job, to rescue it, and to remove the row of a copy.
const (
	copies = iota
	rescues
	drops
)

// carryOut changes the database. An order that the database refuses does not stop the others, and neither does one that waits:
// each turn begins elsewhere, and ends after a moment, since beats wait for it.
func (c *coordinator) carryOut(ctx context.Context) error {
	c.unsure = slices.ContainsFunc(c.todo, func(o order) bool { return o.verb == copies })
	until := time.Now().Add(time.Second / 2)
	for _, i := range rand.Perm(len(c.todo)) {
		if time.Now().After(until) {
			return nil
		}
		o := c.todo[i]
		done, err := c.do(ctx, o)
		var refused *pgconn.PgError
		switch log := c.p.options.Log; {
		case errors.As(err, &refused) && ctx.Err() == nil:
			log.Error("riverplugin: the database refuses a copy or a rescue", "job", o.r.ID, "error", err)
		case err != nil:
			return err
		case done != "" && o.verb == copies:
			o.t.copied = true
			log.Info("riverplugin: a job gets a copy", "job", o.r.ID, "client", o.r.Client, "why", o.why)
		case done != "" && o.verb == rescues:
			log.Warn("riverplugin: a job was rescued",
				"job", o.r.ID, "kind", o.r.Kind, "client", o.r.Client, "state", done, "why", o.why)
		}
	}
	return nil
}

// fence lets a statement change something only if this coordinator still has the lease. Another coordinator waits for the end of
// the statement before it takes the lease.
const fence = `WITH leader AS (
	SELECT FROM SCHEMA.straggler_lease WHERE name = 'coordinator' AND holder = $1 AND term = $2 AND until > now() FOR SHARE
), `

// statements are what the verbs of orders do with the run $4 of the row $3.
//
// A copy is at the head of the jobs of its priority. A job that has ended, that the user has cancelled or that has a copy gets none.
//
// A rescue puts a job back as River's own rescuer does: the attempt counts, and has an error. A transaction may hold the row, such
// as that of a client that was lost after CompleteTx. Then the rescue leaves the job to a later turn, since the other orders must
// not wait for it.
var statements = [...]string{
	copies: fence + `made AS (
		INSERT INTO SCHEMA.river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags)
		SELECT args, kind, 1, metadata - 'output' - 'snoozes' - 'river:rescue_count' || jsonb_build_object('straggler', $5::jsonb),
			priority, queue, now() - interval '1 day', 'available', tags
		FROM SCHEMA.river_job j, leader
		WHERE id = $3 AND RUN = $4 AND state = 'running' AND NOT metadata ? 'cancel_attempted_at'
			AND NOT EXISTS (SELECT FROM SCHEMA.straggler_end WHERE run = $4)
			AND NOT EXISTS (SELECT FROM SCHEMA.river_job WHERE metadata @> jsonb_build_object('straggler', jsonb_build_object('run', $4::text)))
		RETURNING id, queue
	) SELECT id::text, TELL FROM made`,
	rescues: fence + `claimed AS (
		INSERT INTO SCHEMA.straggler_end AS e (run, job, by, ok, copy, kind, began)
		SELECT RUN, id, 0, false, '', kind, attempted_at FROM SCHEMA.river_job j, leader
		WHERE id = $3 AND RUN = $4 AND state = 'running' FOR NO KEY UPDATE OF j SKIP LOCKED
		ON CONFLICT (run) DO UPDATE SET by = 0, ok = false WHERE e.ended < now() - interval '10 seconds' -- the attempt has died since
		RETURNING job
	) UPDATE SCHEMA.river_job SET
		errors = array_append(errors, $5::jsonb),
		metadata = metadata || jsonb_build_object('river:rescue_count', coalesce((metadata->>'river:rescue_count')::int, 0) + 1),
		finalized_at = CASE WHEN attempt >= max_attempts OR metadata ? 'cancel_attempted_at' THEN now() END,
		scheduled_at = CASE WHEN attempt >= max_attempts OR metadata ? 'cancel_attempted_at' THEN scheduled_at ELSE now() + $6 END,
		state = CASE
			WHEN metadata ? 'cancel_attempted_at' THEN 'cancelled'
			WHEN attempt >= max_attempts THEN 'discarded'
			WHEN $6 <= interval '5 seconds' THEN 'available' -- River's scheduler makes jobs available that often
			ELSE 'retryable' END::SCHEMA.river_job_state
	WHERE id IN (SELECT job FROM claimed) RETURNING state::text, ''`,
	drops: fence + `dropped AS (
		DELETE FROM SCHEMA.river_job j USING leader WHERE id = $3 AND RUN = $4 AND metadata ? 'straggler' RETURNING id
	) SELECT id::text, '' FROM dropped`,
}

// do carries out an order. It returns the state of the row after a rescue, the ID of a copy, or "" if there was nothing to do.
func (c *coordinator) do(ctx context.Context, o order) (done string, err error) {
	args := []any{c.p.holder, c.term, o.r.ID, o.r.Run}
	switch o.verb {
	case copies:
		about, _ := json.Marshal(mark{o.r.ID, o.r.Run, o.r.Client, o.name, o.avoid}) // never fails
		args = append(args, string(about))
	case rescues:
		now := time.Now().UTC()
		next := new(river.DefaultClientRetryPolicy).NextRetry(&rivertype.JobRow{
			Attempt: o.r.Attempt, AttemptedAt: &now, Errors: make([]rivertype.AttemptError, o.r.Failures),
		})
		text, _ := json.Marshal(rivertype.AttemptError{At: now, Attempt: o.r.Attempt, Error: "straggler: rescued: " + o.why})
		args = append(args, string(text), next.Sub(now))
	}
	err = c.p.own.QueryRow(ctx, c.p.in(statements[o.verb]), args...).Scan(&done, nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil // the attempt has ended by itself
	}
	return done, err
}

// sweepEvery is the time between two calls of sweep.
const sweepEvery = 10 * time.Second

// sweep removes rows of the plugin's tables that nobody needs, and saves what was learnt. The end of a run stays as long as a client
// lists an attempt of the run: the attempt learns by it whether it has won, also long after its own CompleteTx.
func (c *coordinator) sweep(ctx context.Context) error {
	b := &pgx.Batch{}
	b.Queue(c.p.in(`DELETE FROM SCHEMA.straggler_end WHERE run IN (SELECT run FROM SCHEMA.straggler_end WHERE ended < $1 AND NOT EXISTS (
		SELECT FROM SCHEMA.river_job j WHERE j.id = job AND RUN = run AND state = 'running'
	) AND run NOT IN (SELECT body->>'run' FROM SCHEMA.straggler_client, jsonb_each(running) AS o (own, body)) LIMIT 20000)`),
		c.from.Add(-silence)) // more would take too long; the rest is removed later
	// A client that has jobs stays: they are rescued, also if all clients were away for longer.
	b.Queue(c.p.in(`WITH gone AS (
		DELETE FROM SCHEMA.straggler_member
		WHERE client NOT IN (SELECT client FROM SCHEMA.straggler_client WHERE seen > now() - interval '1 hour') AND client NOT IN (
			SELECT attempted_by[array_upper(attempted_by, 1)] FROM SCHEMA.river_job WHERE state = 'running' AND array_length(attempted_by, 1) > 0
		) RETURNING client
	) DELETE FROM SCHEMA.straggler_client c USING gone WHERE c.client = gone.client`))
	known, _ := c.machines.Knowledge().MarshalBinary() // never fails
	b.Queue(c.p.in(`UPDATE SCHEMA.straggler_lease SET known = $1 WHERE known IS DISTINCT FROM $1`), known)
	c.unsure = true // a copy may wait in a queue that nobody works
	return c.p.own.SendBatch(ctx, b).Close()
}
