package riverplugin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Plugin rescues and copies the jobs of a client of River. Each client needs a plugin of its own. Put it into the
// Plugins of the client's configuration, and call [Plugin.Run]. It is safe for concurrent use.
type Plugin struct {
	river.MiddlewareDefaults
	options Options
	pool    *pgxpool.Pool
	holder  string // a random name of this plugin, which no other process has
	lease   string // the name of the lease: a coordinator in the shadow mode must not take the place of one that acts
	told    sync.Map
	begun   chan struct{} // closed after the first beat; the rest is set before

	client, schema string        // the name of the client, and the schema of River's tables
	own            *pgxpool.Pool // for Run: the program may use all connections of its pool, and a beat must not wait for one

	mu      sync.Mutex
	running map[string]*attempt // all attempts that run in this process, by the runs of their rows
	queues  map[string]bool     // the queues of the attempts so far
	slots   int                 // the largest number of attempts that a beat has seen
}

// New returns a plugin for a client that uses the pool. If an option is out of range, New returns an error that states
// the option.
func New(pool *pgxpool.Pool, o Options) (*Plugin, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if pool == nil {
		return nil, errors.New("riverplugin: New: the pool is nil, want the pool of the client")
	}
	return &Plugin{
		options: o, pool: pool, holder: rand.Text(), lease: map[bool]string{false: "coordinator", true: "shadow"}[o.Shadow],
		begun: make(chan struct{}), running: map[string]*attempt{}, queues: map[string]bool{},
	}, nil
}

// once writes an error to the log, and does so once for each key.
func (p *Plugin) once(key, text string, args ...any) {
	if _, told := p.told.LoadOrStore(key, true); !told {
		p.options.Log.Error("riverplugin: "+text, args...)
	}
}

// in writes the schema into SQL. Run must have begun.
func (p *Plugin) in(sql string) string { return in(p.schema, sql) }

// ready waits until Run has begun, and reports whether it has, for the client of an attempt. A job that began before the first
// beat of its client would be nobody's if the process died then. A client that shares the plugin of another has no beats, and its
// jobs may be in another schema.
func (p *Plugin) ready(ctx context.Context) bool {
	const alone = "" // the key of a line of the log
	if _, is := p.told.Load(alone); !is {
		select {
		case <-p.begun:
		case <-ctx.Done():
		case <-time.After(runWithin):
			p.once(alone, "Plugin.Run has not begun, so jobs are worked as by River alone")
		}
	}
	select {
	case <-p.begun:
	default:
		return false
	}
	client, err := river.ClientFromContextSafely[pgx.Tx](ctx)
	if err != nil || client.ID() == p.client && client.Schema() == p.schema {
		return true
	}
	p.once("shared", "a second client has the same Plugin, so its jobs are worked as by River alone", "client", client.ID())
	return false
}

// locked calls f with the list of the attempts that run here.
func (p *Plugin) locked(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// enter puts an attempt that begins into the list.
func (p *Plugin) enter(job *rivertype.JobRow, named bool) *attempt {
	a := &attempt{ID: job.ID, mark: mark{Job: job.ID, Run: runOf(job)}, Watched: !named, own: runOf(job), plugin: p}
	var of struct{ Straggler mark }
	if json.Unmarshal(job.Metadata, &of) == nil && of.Straggler.Job != 0 {
		a.mark, a.Watched = of.Straggler, false
	}
	p.locked(func() { p.running[a.own], p.queues[job.Queue] = a, true })
	return a
}

// The times of the plugin.
const (
	idleBeat  = time.Second     // the time between two beats of a client without attempts in named kinds
	silence   = 5 * time.Second // a client without a beat for so long is lost
	runWithin = 5 * time.Second // a job waits for the first beat so long
	leaseTime = 3 * time.Second // a coordinator without a beat for so long may be replaced
	patience  = 2 * time.Second // an answer of the database is awaited so long; a connection that takes longer may be dead
)

// Run tells the other clients that this one lives, and coordinates rescues and copies if no other client does. Call it
// once, on a goroutine of its own, with the client that has the plugin. Let ctx end with the client, or after it. Run returns
// when ctx has ended and no attempt runs here any more. It creates the plugin's tables if they are missing. It
// needs a connection of its own, outside of the pool.
func (p *Plugin) Run(ctx context.Context, client *river.Client[pgx.Tx]) {
	if _, called := p.told.LoadOrStore("called", true); called {
		p.options.Log.Error("riverplugin: Plugin.Run was called again; each client needs a Plugin of its own", "client", client.ID())
		return
	}
	config := p.pool.Config()
	config.MinConns, config.MinIdleConns, config.MaxConns = 0, 0, 16     // one is used; a dead one counts until it is closed
	p.own, _ = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config) // it connects later
	defer p.own.Close()
	p.client, p.schema = client.ID(), client.Schema()
	c := &coordinator{p: p}
	wait := ctx
	for begun, failed := false, false; ; {
		stopping := ctx.Err() != nil
		term, err := p.beat(!begun, !stopping)
		if err == nil && !begun {
			begun = true
			close(p.begun)
		}
		if err == nil {
			err = c.turn(term)
		}
		if err != nil && !failed {
			p.options.Log.Warn("riverplugin: the database does not answer, or refuses", "client", p.client, "error", err)
		}
		failed = err != nil
		pause, some := idleBeat, false
		p.locked(func() {
			for _, a := range p.running {
				if some = true; !a.Watched {
					pause = p.options.Interval
				}
			}
		})
		if c.active {
			pause = p.options.Interval
		}
		if stopping {
			if wait = context.Background(); !some {
				break
			}
		}
		select {
		case <-wait.Done():
		case <-time.After(pause):
		}
	}
	// The others shall know that this client has stopped.
	last, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, _ = p.own.Exec(last, p.in(`WITH gone AS (UPDATE SCHEMA.straggler_client SET slots = -1 WHERE client = $1)
		UPDATE SCHEMA.straggler_lease SET until = now() WHERE holder = $2`), p.client, p.holder)
}

// beat tells the others that this client lives and what it runs, and takes or keeps the lease of the coordinator if
// nobody else has it. It returns the term of the lease, 0 if another client has it. It ends the attempts that can end nothing any
// more. The first beat creates the tables.
func (p *Plugin) beat(first, leads bool) (term int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if first {
		if _, err = p.own.Exec(ctx, p.in(tables)); err != nil {
			return 0, err
		}
	}
	var running []byte
	var queues, over []string
	p.locked(func() {
		p.slots = max(p.slots, len(p.running))
		running, _ = json.Marshal(p.running) // never fails
		queues = slices.AppendSeq([]string{}, maps.Keys(p.queues))
	})
	err = p.own.QueryRow(ctx, p.in(`
		WITH member AS (
			INSERT INTO SCHEMA.straggler_member (client, holder, guards)
			SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM SCHEMA.straggler_member WHERE client = $1 AND holder = $2)
			ON CONFLICT (client) DO UPDATE SET holder = $2, guards = $3, since = now(),
				before = coalesce((SELECT running FROM SCHEMA.straggler_client WHERE client = $1), '{}')
		), beat AS (
			INSERT INTO SCHEMA.straggler_client (client, seen, slots, running, queues) VALUES ($1, now(), $4, $5, $6)
			ON CONFLICT (client) DO UPDATE SET seen = now(), slots = $4, running = $5, queues = $6
		), lease AS (
			UPDATE SCHEMA.straggler_lease SET holder = $2, until = now() + $7, term = term + (holder <> $2)::int
			WHERE name = $8 AND $9 AND (until < now() OR holder = $2 AND until < now() + $7 - interval '500 ms') RETURNING term
		)
		SELECT coalesce((SELECT term FROM lease),
			(SELECT term FROM SCHEMA.straggler_lease WHERE name = $8 AND $9 AND holder = $2 AND until > now()), 0),
			ARRAY(SELECT own FROM jsonb_each($5::jsonb) AS o (own, body),
				jsonb_to_record(body) AS a (id bigint, job bigint, run text, watched boolean)
				LEFT JOIN SCHEMA.straggler_end e USING (run)
				WHERE NOT watched AND CASE WHEN e.by IS NOT NULL THEN e.by <> a.id ELSE
					NOT EXISTS (SELECT FROM SCHEMA.river_job j WHERE j.id = a.job AND RUN = run AND state = 'running')
					OR NOT EXISTS (SELECT FROM SCHEMA.river_job j WHERE j.id = a.id) END)`),
		p.client, p.holder, p.options.guards(), p.slots, string(running), queues, leaseTime, p.lease, leads).Scan(&term, &over)
	p.locked(func() {
		for _, run := range over {
			if a := p.running[run]; a != nil && a.cancel != nil && !p.options.Shadow {
				a.cancel(ErrOver)
			}
		}
	})
	return term, err
}

// Result is how a job has ended.
type Result struct {
	Output json.RawMessage // what the job has passed to river.RecordOutput; nil for nothing
	Err    error           // nil if the job has completed
}

// Wait waits until the jobs have ended, and returns their results in the order of ids. A job that does not exist, and a
// job that was cancelled or discarded, has an error. Wait returns an error of its own only if ctx ends before,
// or if the database does not answer.
func (p *Plugin) Wait(ctx context.Context, ids ...int64) ([]Result, error) {
	select {
	case <-p.begun:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for pause, open := 20*time.Millisecond, true; open; pause = min(2*pause, time.Second/2) {
		if err := p.pool.QueryRow(ctx, p.in(`SELECT EXISTS (SELECT FROM SCHEMA.river_job WHERE id = ANY($1) AND finalized_at IS NULL)`),
			ids).Scan(&open); err != nil {
			return nil, err
		}
		if open {
			time.Sleep(pause)
		}
	}
	rows, _ := p.pool.Query(ctx, p.in(`SELECT CASE state WHEN 'completed' THEN metadata->'output' END, CASE
			WHEN state IS NULL THEN format('job %s does not exist', o.id)
			WHEN state <> 'completed' THEN format('job %s was %s: %s', o.id, state, errors[array_upper(errors, 1)]->>'error') END
		FROM unnest($1::bigint[]) WITH ORDINALITY AS o (id, n) LEFT JOIN SCHEMA.river_job USING (id) ORDER BY n`), ids)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Result, err error) {
		var fault *string
		if err = row.Scan(&r.Output, &fault); fault != nil {
			r.Err = errors.New("riverplugin: " + *fault)
		}
		return r, err
	})
}
