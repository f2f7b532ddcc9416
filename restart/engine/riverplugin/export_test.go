package riverplugin

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Copy inserts a copy of a running job, as the coordinator does, and returns its row; 0 if the job does not run.
func (p *Plugin) Copy(ctx context.Context, id int64) (copied int64, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		r := &row{id: id}
		if err := tx.QueryRow(ctx, p.in(`SELECT attempt, attempted_at, attempted_by[array_upper(attempted_by, 1)] FROM SCHEMA.river_job
			WHERE id = $1 AND attempted_at IS NOT NULL`), id).Scan(&r.attempt, &r.begun, &r.client); err != nil {
			return err
		}
		copied, err = newCoordinator(p).copy(ctx, tx, order{r: r})
		return err
	})
	return copied, err
}

// Rescue rescues a running job, as the coordinator does.
func (p *Plugin) Rescue(ctx context.Context, id int64) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		r := &row{id: id}
		if err := tx.QueryRow(ctx, p.in(`SELECT attempt, attempted_at, max_attempts FROM SCHEMA.river_job WHERE id = $1`), id).
			Scan(&r.attempt, &r.begun, &r.most); err != nil {
			return err
		}
		_, err := newCoordinator(p).rescueApart(ctx, tx, order{r: r, why: "a test"})
		return err
	})
}

// Claim claims the end of a job for an attempt, as the middleware does.
func (p *Plugin) Claim(ctx context.Context, job int64, number int) (bool, error) {
	r := &row{id: job, attempt: number}
	if err := p.pool.QueryRow(ctx, p.in(`SELECT attempted_at FROM SCHEMA.river_job WHERE id = $1`), job).Scan(&r.begun); err != nil {
		return false, err
	}
	return claim(ctx, p.pool, *p.schema(), &attempt{own: r.run(), of: r.run()}, true)
}

// ClaimOld claims the end of a job for a copy of its run that began an hour before the present one.
func (p *Plugin) ClaimOld(ctx context.Context, job int64, number int) (bool, error) {
	r := &row{id: job, attempt: number}
	if err := p.pool.QueryRow(ctx, p.in(`SELECT attempted_at FROM SCHEMA.river_job WHERE id = $1`), job).Scan(&r.begun); err != nil {
		return false, err
	}
	r.begun = r.begun.Add(-time.Hour)
	return claim(ctx, p.pool, *p.schema(), &attempt{own: run{id: -1}, of: r.run()}, true)
}
