package riverplugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// AllKinds is a key of [Options.Kinds]: it stands for each kind that has no key of its own.
const AllKinds = "*"

// Options are the choices of a plugin. All clients of a database should have the same. While a change of options reaches one client
// after the other, jobs at a client that does not name their kind, or that is in the shadow mode, are never touched.
type Options struct {
	// Kinds names the kinds of jobs that the plugin rescues, by the Kind method of their arguments, or [AllKinds]. A
	// kind that has no key is only watched: nothing about its jobs changes.
	Kinds map[string]Kind
	// Shadow turns on the shadow mode: the plugin decides as usual, writes once a minute to the log what it would have
	// done, and changes no job. Clients in this mode have a coordinator of their own.
	Shadow bool
	// Interval is how often the coordinator looks at the running jobs, as long as there are any. Without any, it looks
	// once a second. It is 10 ms to 1 s; 0 means 100 ms.
	Interval time.Duration
	// Log gets a line for each rescue, each copy that wins, and each client that is lost or comes back. Nil means
	// slog.Default().
	Log *slog.Logger
}

// Kind is what the plugin does for the jobs of a kind. In the zero value, jobs are rescued.
type Kind struct {
	// Copies lets slow jobs have copies, which run beside the job on another client. The first of both that succeeds
	// is the result. Copies are for handlers that may run twice at the same time.
	Copies bool
	// Work returns the size of a job by its arguments, as JSON, in a unit of your choice. Then a job that is long since
	// it is large does not count as slow. Nil, or a result that is not positive, means that the size is not known.
	Work func(args []byte) float64
}

// fill checks the options and fills in the defaults.
func (o *Options) fill() error {
	o.Interval = cmp.Or(o.Interval, 100*time.Millisecond)
	if o.Interval < 10*time.Millisecond || o.Interval > time.Second { // rarer beats and looks would count as silence
		return fmt.Errorf("riverplugin: Options.Interval is %v, want 10ms to 1s, or 0 for 100ms", o.Interval)
	}
	if _, empty := o.Kinds[""]; empty {
		return fmt.Errorf("riverplugin: Options.Kinds has the key %q, want the name of a kind, or %q", "", AllKinds)
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return nil
}

// of returns what the plugin does for a kind, and whether the options name the kind.
func (o *Options) of(kind string) (k Kind, named bool) {
	if k, named = o.Kinds[kind]; !named {
		k, named = o.Kinds[AllKinds]
	}
	return k, named
}

// Plugin rescues and copies the jobs of a client of River. Each client needs a plugin of its own. Put it into the
// Plugins of the client's configuration, and call [Plugin.Run]. It is safe for concurrent use.
type Plugin struct {
	river.MiddlewareDefaults
	options Options
	pool    *pgxpool.Pool
	holder  string   // a random name of this plugin, which no other process has
	lease   string   // the name of the lease: a coordinator in the shadow mode must not take the place of one that acts
	guards  []string // the kinds in which only one attempt ends a job
	sized   bool     // a kind needs the arguments of its jobs
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
	p := &Plugin{
		options: o, pool: pool, holder: rand.Text(), begun: make(chan struct{}), lease: "coordinator", guards: []string{},
		running: map[string]*attempt{}, queues: map[string]bool{},
	}
	for name, kind := range o.Kinds {
		p.guards, p.sized = append(p.guards, name), p.sized || kind.Work != nil
	}
	if o.Shadow {
		p.guards, p.lease = []string{}, "shadow"
	}
	return p, nil
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
	// An answer of the database is awaited so long; a connection that takes longer may be dead. A beat and the turn after it have this
	// time together: with the pause before the next beat, it must not be longer than the lease.
	patience = 2 * time.Second
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
	for begun, stops, failed := false, false, false; ; {
		if ctx.Err() != nil {
			ctx, stops = context.WithoutCancel(ctx), true
		}
		round, cancel := context.WithTimeout(context.Background(), patience)
		term, named, some, err := p.beat(round, !begun, stops)
		if err == nil && !begun {
			begun = true
			close(p.begun)
		}
		if err == nil {
			err = c.turn(round, term)
		}
		cancel()
		if err != nil && !failed {
			p.options.Log.Warn("riverplugin: the database does not answer, or refuses", "client", p.client, "error", err)
		}
		if failed = err != nil; stops && !some {
			return
		}
		pause := idleBeat
		if named || c.active {
			pause = p.options.Interval
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// beat tells the others that this client lives and what it runs, and takes or keeps the lease of the coordinator if
// nobody else has it. It returns the term of the lease, 0 if another client has it, and whether attempts of named kinds run here, and
// whether any do. It ends the attempts that can end nothing any more. The first beat creates the tables. A client that stops gives
// the lease back, and says that it is gone when no attempt runs any more.
func (p *Plugin) beat(ctx context.Context, first, stops bool) (term int64, named, some bool, err error) {
	var running []byte
	var queues, over []string
	slots := -1
	p.locked(func() {
		for _, a := range p.running {
			named, some = named || !a.Watched, true
		}
		if p.slots = max(p.slots, len(p.running)); some || !stops {
			slots = p.slots
		}
		running, _ = json.Marshal(p.running) // never fails
		queues = slices.AppendSeq([]string{}, maps.Keys(p.queues))
	})
	if first {
		if _, err = p.own.Exec(ctx, p.in(tables)); err != nil {
			return 0, named, some, err
		}
	}
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
			UPDATE SCHEMA.straggler_lease SET holder = $2, until = CASE WHEN $9 THEN now() ELSE now() + $7 END, term = term + (holder <> $2)::int
			WHERE name = $8 AND CASE WHEN $9 THEN holder = $2 AND until > now()
				ELSE until < now() OR holder = $2 AND until < now() + $7 - interval '500 ms' END
			RETURNING term
		)
		SELECT CASE WHEN $9 THEN 0 ELSE coalesce((SELECT term FROM lease),
				(SELECT term FROM SCHEMA.straggler_lease WHERE name = $8 AND holder = $2 AND until > now()), 0) END,
			ARRAY(SELECT own FROM jsonb_each($5::jsonb) AS o (own, body),
				jsonb_to_record(body) AS a (id bigint, job bigint, run text, watched boolean)
				LEFT JOIN SCHEMA.straggler_end e USING (run)
				WHERE NOT watched AND CASE WHEN e.by IS NOT NULL THEN e.by <> a.id ELSE
					NOT EXISTS (SELECT FROM SCHEMA.river_job j WHERE j.id = a.job AND RUN = run AND state = 'running')
					OR NOT EXISTS (SELECT FROM SCHEMA.river_job j WHERE j.id = a.id) END)`),
		p.client, p.holder, p.guards, slots, string(running), queues, leaseTime, p.lease, stops).Scan(&term, &over)
	p.locked(func() {
		for _, run := range over {
			if a := p.running[run]; a != nil && a.cancel != nil && !p.options.Shadow {
				a.cancel(ErrOver)
			}
		}
	})
	return term, named, some, err
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

// tables creates the plugin's tables, in the schema of River's tables, if they are missing. If they are there, it needs no
// right to create any.
//
// straggler_end decides which attempt ends a job: whoever inserts the row of a run of a job may end it, and nobody
// else. The attempt itself, a copy of it and a rescue compete for the row. The tables without a log are empty after a
// crash of Postgres. A client that lives fills its row again with its next beat. A client that died with Postgres is still in
// straggler_member, so its jobs are rescued. That table also says when the present process took the name from another, what
// that one had listed in its last beat, and in which kinds the client lets only one attempt end a job: in none, in
// the shadow mode. straggler_lease has a row for each coordinator, and what it has learnt about kinds.
const tables = `DO $$ BEGIN
	PERFORM pg_advisory_xact_lock(7235419082);
	IF to_regclass('SCHEMA.straggler_lease') IS NULL THEN
		CREATE UNLOGGED TABLE SCHEMA.straggler_client (
			client text PRIMARY KEY, seen timestamptz NOT NULL, slots int NOT NULL, running jsonb NOT NULL, queues text[] NOT NULL
		);
		CREATE UNLOGGED TABLE SCHEMA.straggler_end (
			run text PRIMARY KEY, job bigint NOT NULL, by bigint NOT NULL, ok boolean NOT NULL, copy text NOT NULL, kind text NOT NULL,
			began timestamptz NOT NULL, ended timestamptz NOT NULL DEFAULT now()
		);
		CREATE INDEX ON SCHEMA.straggler_end (ended);
		CREATE TABLE SCHEMA.straggler_member (
			client text PRIMARY KEY, holder text NOT NULL, guards text[] NOT NULL, since timestamptz NOT NULL DEFAULT 'epoch',
			before jsonb NOT NULL DEFAULT '{}'
		);
		CREATE TABLE SCHEMA.straggler_lease (
			name text PRIMARY KEY, holder text NOT NULL DEFAULT '', term bigint NOT NULL DEFAULT 0,
			until timestamptz NOT NULL DEFAULT now(), known bytea
		);
		INSERT INTO SCHEMA.straggler_lease (name) VALUES ('coordinator'), ('shadow');
	END IF;
END $$`

// in writes what a statement leaves open: SCHEMA, the schema of River's tables, RUN, the name of the run of a row j of river_job,
// and TELL, the call that makes the clients of a queue look for jobs at once, as River does. The empty schema stands for the
// search path, as in River's configuration.
//
// A job that was snoozed, or that a soft stop has ended, runs again with the same number of the attempt. So the name of a run has
// the time of its begin, too. The Go side of it is [runOf].
func in(schema, sql string) string {
	topic := "current_schema()"
	if schema != "" {
		topic = "'" + strings.ReplaceAll(schema, "'", "''") + "'"
		schema = pgx.Identifier{schema}.Sanitize() + "."
	}
	return strings.NewReplacer("SCHEMA.", schema,
		"RUN", "concat(j.id, '.', j.attempt, '.', (extract(epoch FROM j.attempted_at) * 1000000)::bigint)",
		"TELL", fmt.Sprintf("pg_notify(concat(%s, '.river_insert'), json_build_object('queue', queue)::text)", topic)).Replace(sql)
}
