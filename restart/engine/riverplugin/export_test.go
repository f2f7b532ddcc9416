package riverplugin

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"

	"github.com/straggler-go/straggler/restart/engine"
)

// leader returns a coordinator that has the lease, and the row of a job that runs.
func (p *Plugin) leader(ctx context.Context, job int64) (*coordinator, *row, error) {
	of, r := &Plugin{options: p.options, own: p.pool, client: p.client, schema: p.schema}, &row{ID: job}
	c := &coordinator{p: of}
	err := p.pool.QueryRow(ctx, p.in(`SELECT holder, term FROM SCHEMA.straggler_lease WHERE name = 'coordinator'`)).Scan(&of.holder, &c.term)
	if err == nil {
		err = p.pool.QueryRow(ctx, p.in(`SELECT RUN, attempt, attempted_at, coalesce(attempted_by[array_upper(attempted_by, 1)], '')
			FROM SCHEMA.river_job j WHERE id = $1 AND attempted_at IS NOT NULL`), job).Scan(&r.Run, &r.Attempt, &r.Begun, &r.Client)
	}
	return c, r, err
}

// Copy inserts a copy of a running job, as the coordinator does, and reports whether the job runs.
func (p *Plugin) Copy(ctx context.Context, job int64) (copied bool, err error) {
	c, r, err := p.leader(ctx, job)
	if err != nil {
		return false, err
	}
	done, err := c.do(ctx, order{verb: copies, r: r})
	return done != "", err
}

// Sweep removes the rows that nobody needs, as the coordinator does, also of ends of a moment ago.
func (p *Plugin) Sweep(ctx context.Context) error {
	c, _, err := p.leader(ctx, 0)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	c.from, c.machines = time.Now().Add(time.Minute), new(engine.Machines)
	return c.sweep(ctx)
}

// Looked returns when a coordinator has last looked, after a look.
func (p *Plugin) Looked(ctx context.Context) (time.Time, error) {
	c := &coordinator{p: &Plugin{options: p.options, own: p.pool, client: p.client, schema: p.schema}}
	_, err := c.look(ctx)
	return c.looked, err
}

// Claim claims the end of a job for an attempt, as the middleware does. Off is added to the time of the begin of the run.
func (p *Plugin) Claim(ctx context.Context, job, by int64, number int, off time.Duration) (bool, error) {
	_, r, err := p.leader(ctx, job)
	if err != nil {
		return false, err
	}
	began := r.Begun.Add(off)
	run := runOf(&rivertype.JobRow{ID: job, Attempt: number, AttemptedAt: &began})
	return p.claim(ctx, p.pool.QueryRow, &attempt{ID: by, mark: mark{Job: job, Run: run}}, true, nil)
}

// Rescue rescues running jobs in one turn, as the coordinator does.
func (p *Plugin) Rescue(ctx context.Context, jobs ...int64) error {
	var of *coordinator
	var todo []order
	for _, job := range jobs {
		c, r, err := p.leader(ctx, job)
		if err != nil {
			return err
		}
		of, todo = c, append(todo, order{verb: rescues, r: r, why: "a test"})
	}
	of.todo = todo
	return of.carryOut(ctx)
}

// RunOf returns the name of the run of a job.
func (p *Plugin) RunOf(ctx context.Context, job int64) (string, error) {
	_, r, err := p.leader(ctx, job)
	return r.Run, err
}

// Sight is what a look shows of a row that runs.
type Sight struct {
	Dead                 string
	Acts, Listed, Others bool
}

// Look returns what a coordinator sees of the rows that run, by their IDs, if clients are lost.
func (p *Plugin) Look(ctx context.Context, shadow bool, lost ...string) (map[int64]Sight, error) {
	c := &coordinator{p: &Plugin{options: p.options, own: p.pool, client: p.client, schema: p.schema}}
	c.p.options.Shadow = shadow
	if _, err := c.look(ctx); err != nil {
		return nil, err
	}
	for _, name := range lost {
		c.clients[name].lost = true
	}
	v, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	shown := map[int64]Sight{}
	for _, r := range v.rows {
		shown[r.ID] = Sight{r.Dead, r.Acts, r.Listed, r.Others}
	}
	return shown, nil
}
