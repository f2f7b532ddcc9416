package riverplugin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
)

// Plugin rescues and copies the jobs of a client of River. Each client needs a plugin of its own. Put it into the
// Plugins of the client's configuration, and call [Plugin.Run]. It is safe for concurrent use.
type Plugin struct {
	river.MiddlewareDefaults
	options Options
	pool    *pgxpool.Pool
	home    atomic.Pointer[home]
	begun   chan struct{} // closed after the first beat
	alone   atomic.Bool   // Run has not begun in time
	called  atomic.Bool   // Run was called
	shared  atomic.Bool   // a client other than that of Run has the plugin
	busy    atomic.Int32  // attempts that run in this process, of all kinds
	most    atomic.Int32  // the largest value of busy that a beat has seen
	holder  string        // a random name of this plugin, which no other process has

	warned sync.Map // the kinds whose handlers must change

	mu      sync.Mutex
	running map[string]*attempt // by the names of the attempts
}

// home is where the plugin runs: the name of its client, and the schema of River's tables.
type home struct{ client, schema string }

// New returns a plugin for a client that uses the pool. If an option is out of range, New returns an error that states
// the option.
func New(pool *pgxpool.Pool, o Options) (*Plugin, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if pool == nil {
		return nil, errors.New("riverplugin: New: the pool is nil, want the pool of the client")
	}
	return &Plugin{options: o, pool: pool, holder: rand.Text(), begun: make(chan struct{}), running: map[string]*attempt{}}, nil
}

// ready waits until Run has begun, and reports whether it has. A job that began before the first beat of its client would
// be nobody's if the process died then.
func (p *Plugin) ready(ctx context.Context) bool {
	select {
	case <-p.begun:
		return true
	default:
	}
	if p.alone.Load() {
		return false
	}
	select {
	case <-p.begun:
		return true
	case <-ctx.Done():
		return false
	case <-time.After(runWithin):
		if !p.alone.Swap(true) {
			p.options.Log.Error("riverplugin: Plugin.Run has not begun, so jobs are worked as by River alone")
		}
		return false
	}
}

// stranger reports whether the client of an attempt is not the client of Run. Such a client has no beats, and its jobs may be
// in another schema.
func (p *Plugin) stranger(ctx context.Context) bool {
	client, err := river.ClientFromContextSafely[pgx.Tx](ctx)
	if h := p.home.Load(); err != nil || *h == (home{client.ID(), client.Schema()}) {
		return false
	}
	if !p.shared.Swap(true) {
		p.options.Log.Error("riverplugin: a second client has the same Plugin, so its jobs are worked as by River alone", "client", client.ID())
	}
	return true
}

// schema returns the schema of River's tables; nil before Run has begun.
func (p *Plugin) schema() *string {
	if h := p.home.Load(); h != nil {
		return &h.schema
	}
	return nil
}

// in writes the schema into SQL. Run must have begun.
func (p *Plugin) in(sql string) string { return in(*p.schema(), sql) }

// name returns the name of the client.
func (p *Plugin) name() string { return p.home.Load().client }

// enter and leave keep the list of the attempts that run here.
func (p *Plugin) enter(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[a.name()] = a
}

func (p *Plugin) leave(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, a.name())
}

// The times of the plugin.
const (
	idleBeat  = time.Second     // the time between two beats of a client without attempts in named kinds
	silence   = 5 * time.Second // a client without a beat for so long is lost
	runWithin = 5 * time.Second // a job waits for the first beat so long
	leaseTime = 3 * time.Second // a coordinator without a beat for so long may be replaced
)

// Run tells the other clients that this one lives, and coordinates rescues and copies if no other client does. Call it
// once, on a goroutine of its own, with the client that has the plugin. Let ctx end with the client, or after it. Run returns
// when ctx has ended and no attempt of a named kind runs here any more. It creates the plugin's tables if they are missing. It
// needs two connections of its own, outside of the pool.
func (p *Plugin) Run(ctx context.Context, client *river.Client[pgx.Tx]) {
	if p.called.Swap(true) {
		p.options.Log.Error("riverplugin: Plugin.Run was called again; each client needs a Plugin of its own", "client", client.ID())
		return
	}
	schema := client.Schema()
	beats := &line{config: p.pool.Config()}
	defer beats.close()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := beats.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return create(ctx, conn, schema)
		})
		if err == nil {
			break
		}
		p.options.Log.Error("riverplugin: the tables can't be created yet", "error", err)
		if !sleep(ctx, pause) {
			return
		}
	}
	p.home.Store(&home{client.ID(), schema})
	c := newCoordinator(p)
	var wait sync.WaitGroup
	wait.Go(func() { c.run(ctx) })
	defer wait.Wait()
	failed := false
	for {
		named, some := p.beat(ctx, beats, c, &failed)
		if ctx.Err() != nil && !some {
			p.leaveCluster(beats)
			return
		}
		pause := idleBeat
		if named || c.active.Load() {
			pause = p.options.Interval
		}
		if ctx.Err() != nil {
			time.Sleep(pause)
		} else {
			sleep(ctx, pause)
		}
	}
}

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// beat tells the others that this client lives and what it runs, and takes or keeps the lease of the coordinator if
// nobody else has it. It ends the attempts that the coordinator wants to end. It reports whether attempts of named kinds
// run here, and whether any do.
func (p *Plugin) beat(ctx context.Context, beats *line, c *coordinator, failed *bool) (named, some bool) {
	p.mu.Lock()
	shares := make(map[string]float64, len(p.running))
	for name, a := range p.running {
		shares[name] = math.Float64frombits(a.share.Load())
	}
	p.mu.Unlock()
	running, _ := json.Marshal(shares)
	now := p.busy.Load()
	p.most.Store(max(p.most.Load(), now))
	var ends []string
	var term *int64
	leads := ctx.Err() == nil
	err := beats.do(context.WithoutCancel(ctx), func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, p.in(`
			WITH member AS (
				INSERT INTO SCHEMA.straggler_member (client, holder, guards)
				SELECT $1, $7, $8 WHERE NOT EXISTS (SELECT FROM SCHEMA.straggler_member WHERE client = $1 AND holder = $7)
				ON CONFLICT (client) DO UPDATE SET holder = $7, guards = $8, since = now(),
					before = coalesce((SELECT running FROM SCHEMA.straggler_client WHERE client = $1), '{}')
			), beat AS (
				INSERT INTO SCHEMA.straggler_client (client, seen, busy, slots, running) VALUES ($1, now(), $2, $3, $4)
				ON CONFLICT (client) DO UPDATE SET seen = now(), busy = $2, slots = $3, running = $4 RETURNING ends
			), lease AS (
				INSERT INTO SCHEMA.straggler_lease AS l (name, holder, term, until)
				SELECT $9, $7, 1, now() + $5 WHERE $6 AND NOT EXISTS (
					SELECT FROM SCHEMA.straggler_lease
					WHERE name = $9 AND until >= now() AND (holder <> $7 OR until >= now() + $5 - interval '500 ms')
				) -- without it each beat of each client would lock the lease
				ON CONFLICT (name) DO UPDATE SET
					holder = $7, until = now() + $5, term = l.term + CASE WHEN l.holder = $7 THEN 0 ELSE 1 END
				WHERE l.until < now() OR l.holder = $7 AND l.until < now() + $5 - interval '500 ms'
				RETURNING term
			)
			SELECT beat.ends, coalesce((SELECT term FROM lease),
				(SELECT term FROM SCHEMA.straggler_lease WHERE holder = $7 AND until > now() AND $6)) FROM beat`),
			p.name(), now, p.most.Load(), string(running), leaseTime, leads, p.holder, p.options.guards(), p.lease()).Scan(&ends, &term)
	})
	if (err != nil) != *failed {
		if *failed = err != nil; *failed {
			p.options.Log.Warn("riverplugin: the database does not answer", "client", p.name(), "error", err)
		} else {
			p.options.Log.Info("riverplugin: the database answers again", "client", p.name())
		}
	}
	if err == nil {
		c.elected(term)
		select {
		case <-p.begun:
		default:
			close(p.begun)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range ends {
		if a := p.running[name]; a != nil && a.cancel != nil {
			a.cancel(ErrOver)
		}
	}
	for _, a := range p.running {
		named = named || !a.watched
	}
	return named, len(p.running) > 0
}

// lease returns the name of the lease of the coordinator. Clients in the shadow mode have a coordinator of their own: it must not
// take the place of one that acts.
func (p *Plugin) lease() string {
	if p.options.Shadow {
		return "shadow"
	}
	return "coordinator"
}

// leaveCluster tells the others that this client has stopped.
func (p *Plugin) leaveCluster(beats *line) {
	beats.do(context.Background(), func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, p.in(`WITH gone AS (UPDATE SCHEMA.straggler_client SET busy = -1, slots = 0 WHERE client = $1)
			UPDATE SCHEMA.straggler_lease SET until = now() WHERE holder = $2`), p.name(), p.holder)
		return err
	})
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
	return wait(ctx, p.pool, *p.schema(), ids)
}
