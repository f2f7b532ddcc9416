package riverplugin

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Copy inserts a copy of a running job, as the coordinator does, and returns its row; 0 if the job does not run.
func (p *Plugin) Copy(ctx context.Context, id int64) (copied int64, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		r := &row{id: id}
		if err := tx.QueryRow(ctx, p.in(`SELECT attempt, attempted_by[array_upper(attempted_by, 1)] FROM SCHEMA.river_job WHERE id = $1`), id).
			Scan(&r.attempt, &r.client); err != nil {
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
		if err := tx.QueryRow(ctx, p.in(`SELECT attempt, max_attempts FROM SCHEMA.river_job WHERE id = $1`), id).Scan(&r.attempt, &r.most); err != nil {
			return err
		}
		return newCoordinator(p).rescueApart(ctx, tx, order{r: r, why: "a test"})
	})
}

// Claim claims the end of a job for an attempt, as the middleware does.
func (p *Plugin) Claim(ctx context.Context, job int64, number int) (bool, error) {
	return claim(ctx, p.pool, *p.schema(), &attempt{row: job, number: number, job: job, of: number}, true)
}
