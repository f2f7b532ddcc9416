package riverplugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// coordinator decides for all clients, as long as it has the lease. It looks at the running jobs of the named kinds,
// tells them to the phase of their kind, and carries out what the phase asks for.
type coordinator struct {
	p      *Plugin
	line   *line
	active atomic.Bool  // jobs of named kinds run somewhere
	term   atomic.Int64 // the term of the lease; 0 if this process does not have it
	state
}

// state is what a coordinator knows. It begins anew with each term.
type state struct {
	of       int64                          // the term
	stored   map[string]*tracker.Experience // what earlier coordinators have learnt about each kind
	machines *engine.Machines
	kinds    map[string]*kind
	at       time.Time        // of this turn, by the clock of this process
	looked   time.Time        // when the last look succeeded, by the same clock
	beats    map[string]heard // the beats of all clients
	doubted  time.Time        // when most clients were silent at once
	lost     map[string]bool  // clients that are lost
	left     []int64          // copies that an earlier coordinator made and that do not run, until the first turn
	turns    int
	from     time.Time // ends of attempts before this time are known, by the clock of the database
	swept    time.Time // of the last removal of old rows
	strange  map[place]time.Time
	shadow   map[string]int // what the shadow mode would have done since the last line of the log
	told     time.Time
}

func newCoordinator(p *Plugin) *coordinator {
	return &coordinator{p: p, line: &line{config: p.pool.Config()}}
}

// elected sets the term of the lease. It is called by the goroutine of the beats.
func (c *coordinator) elected(term *int64) {
	if term == nil {
		c.term.Store(0)
		c.active.Store(false)
	} else {
		c.term.Store(*term)
	}
}

// run takes turns until ctx ends.
func (c *coordinator) run(ctx context.Context) {
	defer c.line.close()
	for {
		pause := c.p.options.Interval
		if term := c.term.Load(); term == 0 {
			c.of = 0
		} else if err := c.turn(ctx, term); err != nil && ctx.Err() == nil {
			c.p.options.Log.Warn("riverplugin: a turn of the coordinator failed", "error", err)
			pause = max(pause, time.Second/2)
		}
		if !c.active.Load() {
			pause = idleBeat
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// turn looks once and acts once.
func (c *coordinator) turn(ctx context.Context, term int64) error {
	if c.of != term {
		if err := c.begin(ctx, term); err != nil {
			return err
		}
	}
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	c.judgeClients(v)
	var todo orders
	c.tell(v, &todo)
	c.endOthers(v, &todo)
	c.orphans(v, &todo)
	c.report(v)
	if c.p.options.Shadow {
		return c.sweep(ctx, v)
	}
	if err := c.carryOut(ctx, term, &todo); err != nil {
		return err
	}
	return c.sweep(ctx, v)
}

// begin begins a term. What the coordinator before knew about kinds is in the database.
func (c *coordinator) begin(ctx context.Context, term int64) error {
	c.state = state{
		of: term, machines: new(engine.Machines), kinds: map[string]*kind{}, stored: map[string]*tracker.Experience{},
		beats: map[string]heard{}, lost: map[string]bool{}, strange: map[place]time.Time{}, shadow: map[string]int{},
	}
	if err := c.recall(ctx); err != nil {
		c.of = 0
		return err
	}
	c.p.options.Log.Info("riverplugin: this client coordinates", "client", c.p.name(), "term", term)
	return nil
}

// client is a client of River that has the plugin, as its last beat says.
type client struct {
	seen        time.Time
	busy, slots int
	running     map[string]float64 // by the names of the attempts, the shares of work that they have reported
	ends        []string
}

// gone reports whether the client has stopped.
func (cl *client) gone() bool { return cl.busy < 0 }

// row is a row of a job, or of a copy, that runs, or that the coordinator knows.
type row struct {
	id            int64
	kind, queue   string
	attempt, most int
	state         string
	begun         time.Time
	client        string
	copied        mark // for a copy
	cancelled     bool // the user has asked to cancel the job
	failures      int
	args          []byte
	known, isLost bool // known: a client with the plugin runs the attempt; isLost: and this client is lost
	isWatched     bool // the client runs the attempt as River alone would, and only lists it
	hasReturned   bool // the client does not run the attempt any more, and River has not yet written that
	progress      float64
	progressAt    time.Time
}

func (r *row) runs() bool { return r.state == "running" }

// final reports whether the job has ended for good.
func (r *row) final() bool {
	return r.state == "completed" || r.state == "cancelled" || r.state == "discarded"
}

// job is an attempt of a job.
type job struct {
	id      int64
	attempt int
}

// ending says who has ended an attempt of a job.
type ending struct {
	by           int64 // the row of the attempt that has ended it; 0 for a rescue
	ok           bool
	kind         string
	began, ended time.Time
}

// view is what a look has shown.
type view struct {
	now     time.Time
	clients map[string]*client
	rows    map[int64]*row
	copies  map[job][]*row // the copies of each attempt
	ends    map[job]ending
	waiting bool // a job waits for a slot
}

// allEnds is the number of looks of which one reads all ends of attempts, also old ones: see [coordinator.orphans].
const allEnds = 64

// look reads everything in one round trip, at one moment.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{clients: map[string]*client{}, rows: map[int64]*row{}, copies: map[job][]*row{}, ends: map[job]ending{}}
	names, all := c.names()
	from := c.from
	if c.turns++; c.turns%allEnds == 0 {
		from = time.Time{}
	}
	err := c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		b := &pgx.Batch{}
		// The order makes the planner take River's index. Else it may read all old jobs before it finds one that waits, and EXISTS drops an order.
		b.Queue(c.in(`SELECT now(), (
			SELECT true FROM SCHEMA.river_job WHERE state = 'available' AND scheduled_at <= now() - interval '50 ms'
			ORDER BY queue, priority, scheduled_at, id LIMIT 1
		) IS NOT NULL`))
		b.Queue(c.in(`SELECT client, seen, busy, slots, running::text, ends FROM SCHEMA.straggler_client`))
		b.Queue(c.in(`
			SELECT e.job, e.attempt, e.by, e.ok, coalesce(e.began, e.ended), e.ended, coalesce(j.kind, '')
			FROM SCHEMA.straggler_end e LEFT JOIN SCHEMA.river_job j ON j.id = e.job WHERE e.ended > $1`), from)
		columns := `id, kind, queue, attempt, max_attempts, state::text, coalesce(attempted_at, now()),
			coalesce(attempted_by[array_upper(attempted_by, 1)], ''), coalesce(metadata->'straggler', '{}')::text,
			metadata ? 'cancel_attempted_at', coalesce(array_length(errors, 1), 0), args::text`
		b.Queue(c.in(`SELECT `+columns+` FROM SCHEMA.river_job
			WHERE state = 'running' AND ($1 OR kind = ANY($2) OR metadata ? 'straggler')
			UNION ALL SELECT `+columns+` FROM SCHEMA.river_job WHERE id = ANY($3) AND state <> 'running'`), all, names, c.tracked())
		r := conn.SendBatch(ctx, b)
		err := v.read(r)
		if e := r.Close(); err == nil {
			err = e
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.notice(v)
	return v, nil
}

// read reads the answers to look.
func (v *view) read(r pgx.BatchResults) error {
	if err := r.QueryRow().Scan(&v.now, &v.waiting); err != nil {
		return err
	}
	rows, err := r.Query()
	if err != nil {
		return err
	}
	var name, text string
	var cl client
	if _, err = pgx.ForEachRow(rows, []any{&name, &cl.seen, &cl.busy, &cl.slots, &text, &cl.ends}, func() error {
		one := cl
		one.ends = slices.Clone(cl.ends)
		one.running = map[string]float64{}
		v.clients[name] = &one
		return json.Unmarshal([]byte(text), &one.running)
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	var j job
	var e ending
	if _, err = pgx.ForEachRow(rows, []any{&j.id, &j.attempt, &e.by, &e.ok, &e.began, &e.ended, &e.kind}, func() error {
		v.ends[j] = e
		return nil
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	var one row
	_, err = pgx.ForEachRow(rows, []any{
		&one.id, &one.kind, &one.queue, &one.attempt, &one.most, &one.state, &one.begun, &one.client, &text, &one.cancelled,
		&one.failures, &one.args,
	}, func() error {
		r := one
		r.args = slices.Clone(one.args)
		var m struct{ mark }
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			r.copied = m.mark
		}
		v.rows[r.id] = &r
		if r.copied.Job != 0 {
			of := job{r.copied.Job, r.copied.Attempt}
			v.copies[of] = append(v.copies[of], &r)
		}
		return nil
	})
	for _, r := range v.rows {
		if cl := v.clients[r.client]; r.runs() && cl != nil {
			r.known = true
			share, listed := cl.running[attemptName(r.id, r.attempt)]
			_, r.isWatched = cl.running[watchedPrefix+attemptName(r.id, r.attempt)]
			r.hasReturned = !listed && !r.isWatched && cl.seen.After(r.begun.Add(time.Second))
			r.progress, r.progressAt = share, cl.seen
		}
	}
	return err
}

// names returns the kinds that the options name, and whether these are all kinds.
func (c *coordinator) names() (names []string, all bool) {
	for name := range c.p.options.Kinds {
		if name == AllKinds {
			all = true
		} else {
			names = append(names, name)
		}
	}
	return names, all
}

// tracked returns the rows of the jobs and copies that the phases know, and of the copies that an earlier coordinator left.
func (c *coordinator) tracked() (ids []int64) {
	ids = append(ids, c.left...)
	for _, k := range c.kinds {
		for id, t := range k.tasks {
			ids = append(ids, id)
			for _, id := range t.copies {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// notice notes when the beat of each client was last seen to change, by the clock of this process. If the coordinator
// itself may have been blind, everybody's silence begins anew: absence of evidence is not death. That is so if the look was
// late or took long.
func (c *coordinator) notice(v *view) {
	c.at = time.Now()
	blind := c.looked.IsZero() || c.at.Sub(c.looked) > idleBeat+silence/5
	c.looked = c.at
	for name, cl := range v.clients {
		if h := c.beats[name]; blind && !c.lost[name] || !h.seen.Equal(cl.seen) {
			c.beats[name] = heard{cl.seen, c.at}
		}
	}
	maps.DeleteFunc(c.beats, func(name string, _ heard) bool { return v.clients[name] == nil })
	maps.DeleteFunc(c.lost, func(name string, _ bool) bool { return v.clients[name] == nil })
	maps.DeleteFunc(c.strange, func(_ place, when time.Time) bool { return v.now.Sub(when) > strangeFor })
	c.left, c.from = nil, v.now.Add(-overlap)
}

// overlap is how far the ends that a look reads reach back before the look before. A transaction that wrote an end may have
// taken so long.
const overlap = 3 * time.Second

// heard is the last beat of a client, and when the coordinator first saw it.
type heard struct{ seen, at time.Time }

// silent returns how long a client has been silent.
func (c *coordinator) silent(name string) time.Duration { return c.at.Sub(c.beats[name].at) }

// judgeClients finds out which clients are lost, and which have come back. If most clients are silent at once, the fault
// may lie between the clients and the database: then everybody's silence begins anew, once.
func (c *coordinator) judgeClients(v *view) {
	var fresh []string
	known := 0
	for name, cl := range v.clients {
		switch {
		case cl.gone() && len(cl.running) == 0:
			continue
		case c.silent(name) > silence && !c.lost[name]:
			fresh = append(fresh, name)
		case c.silent(name) == 0 && c.lost[name]:
			delete(c.lost, name)
			c.p.options.Log.Info("riverplugin: a lost client is back", "client", name)
		}
		if !c.lost[name] {
			known++
		}
	}
	if len(fresh) > 1 && 2*len(fresh) > known && c.at.Sub(c.doubted) > 3*silence {
		c.p.options.Log.Warn("riverplugin: most clients are silent at once; their silence begins anew", "clients", len(fresh))
		c.doubted = c.at
		for name, h := range c.beats {
			c.beats[name] = heard{h.seen, c.at}
		}
		fresh = nil
	}
	slices.Sort(fresh)
	for _, name := range fresh {
		c.lost[name] = true
		c.p.options.Log.Warn("riverplugin: a client is lost", "client", name, "silent", c.silent(name).Round(time.Millisecond))
	}
	for _, r := range v.rows {
		r.isLost = r.known && c.lost[r.client]
	}
}

// endOthers lists the attempts that run and can end nothing any more.
func (c *coordinator) endOthers(v *view, todo *orders) {
	todo.ends = map[string][]string{}
	for name, cl := range v.clients {
		for attempt := range cl.running {
			if strings.HasPrefix(attempt, watchedPrefix) {
				continue
			}
			id, number := parseName(attempt)
			r := v.rows[id]
			mine := job{id, number}
			if r != nil && r.copied.Job != 0 {
				mine = job{r.copied.Job, r.copied.Attempt}
			}
			over := c.unwanted(r) || r == nil || !r.runs() || r.attempt != number && r.copied.Job == 0
			if e, ended := v.ends[mine]; ended && e.by != id {
				over = true
			}
			if original := v.rows[mine.id]; mine.id != id && (original == nil || !original.runs() || original.attempt != mine.attempt) {
				over = true
			}
			if over && !c.lost[name] {
				todo.ends[name] = append(todo.ends[name], attempt)
			}
		}
		slices.Sort(todo.ends[name])
		if slices.Equal(todo.ends[name], cl.ends) {
			delete(todo.ends, name)
		} else if todo.ends[name] == nil {
			todo.ends[name] = []string{}
		}
	}
	for of, copies := range v.copies {
		original := v.rows[of.id]
		_, ended := v.ends[of]
		for _, r := range copies {
			over := ended || c.unwanted(r) || original == nil || !original.runs() || original.attempt != of.attempt
			if over && (!r.runs() || r.isLost || r.hasReturned) || r.final() {
				todo.drops = append(todo.drops, r.id)
			}
		}
	}
}

// unwanted reports whether the phase of a copy has cancelled the copy.
func (c *coordinator) unwanted(r *row) bool {
	return r != nil && c.kinds[r.kind] != nil && c.kinds[r.kind].unwant[r.id]
}

func parseName(attempt string) (id int64, number int) {
	fmt.Sscanf(strings.TrimSpace(attempt), "%d.%d", &id, &number)
	return id, number
}

// flushed is the time in which River, at a client that lives, has written the end of an attempt, or has given up.
const flushed = 2 * time.Minute

// orphans rescues the jobs whose end was claimed by an attempt that died before River wrote it.
func (c *coordinator) orphans(v *view, todo *orders) {
	where := map[int64]string{} // by the row of an attempt, the client that runs it
	for name, cl := range v.clients {
		for attempt := range cl.running {
			id, _ := parseName(attempt)
			where[id] = name
		}
	}
	for j, e := range v.ends {
		r := v.rows[j.id]
		if r == nil || !r.runs() || !r.known || r.attempt != j.attempt {
			continue
		}
		client, listed := where[e.by]
		if !listed && e.by == j.id {
			client = r.client
		}
		since := v.now.Sub(e.ended)
		if !listed && since > flushed || since > 2*silence && c.lost[client] {
			todo.rescues = append(todo.rescues, order{r: r, why: "the attempt that ended the job has died", override: true})
		}
	}
	for _, r := range v.rows {
		_, named := c.p.options.of(r.kind)
		_, ended := v.ends[job{r.id, r.attempt}]
		switch neverBegan := r.runs() && r.hasReturned && !ended && !c.lost[r.client] && v.now.Sub(r.begun) > flushed; {
		case neverBegan && r.copied.Job != 0:
			todo.drops = append(todo.drops, r.id)
		case neverBegan && named: // the answer to the fetch of the job was lost with a connection
			todo.rescues = append(todo.rescues, order{r: r, why: "the client " + r.client + " lives and does not run it"})
		}
	}
}

// report writes to the log, once a minute, what the shadow mode would have done.
func (c *coordinator) report(v *view) {
	if !c.p.options.Shadow || v.now.Sub(c.told) < time.Minute {
		return
	}
	args := []any{}
	for _, what := range slices.Sorted(maps.Keys(c.shadow)) {
		args = append(args, what, c.shadow[what])
	}
	c.p.options.Log.Info("riverplugin: in the last minute the plugin would have made", args...)
	c.shadow, c.told = map[string]int{}, v.now
}
