package riverplugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// obeys works a job as its name says.
func obeys(ctx context.Context, _ string, job *river.Job[work]) error {
	switch job.Args.Name {
	case "cancels":
		return river.JobCancel(errors.New("never again"))
	case "snoozes":
		if !strings.Contains(string(job.Metadata), `"snoozes"`) {
			return river.JobSnooze(10 * time.Millisecond)
		}
	case "fails once":
		if job.Attempt == 1 {
			return errors.New("once")
		}
	case "fails":
		return errors.New("always")
	case "waits":
		<-ctx.Done()
		return ctx.Err()
	case "output":
		return river.RecordOutput(ctx, "text")
	}
	return pause(ctx, job.Args.Lasts)
}

// verbs are what a program may do with jobs of River. Each returns the jobs whose rows are compared.
var verbs = []struct {
	name string
	do   func(t *testing.T, n *node, pool *pgxpool.Pool) []int64
}{
	{"a job that ends", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		return []int64{insert(t, n, work{Name: "output"}, nil)}
	}},
	{"river.JobCancel", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		return []int64{insert(t, n, work{Name: "cancels"}, nil)}
	}},
	{"river.JobSnooze", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		return []int64{insert(t, n, work{Name: "snoozes"}, nil)}
	}},
	{"retries", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		return []int64{insert(t, n, work{Name: "fails once"}, nil), insert(t, n, work{Name: "fails"}, &river.InsertOpts{MaxAttempts: 2})}
	}},
	{"schedule, priority, tags and metadata", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		return []int64{insert(t, n, work{Name: "later"}, &river.InsertOpts{
			ScheduledAt: time.Now().Add(200 * time.Millisecond), Priority: 3, Tags: []string{"one", "two"}, Metadata: []byte(`{"user": 7}`),
		})}
	}},
	{"unique", func(t *testing.T, n *node, _ *pgxpool.Pool) []int64 {
		o := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
		a := insert(t, n, work{"unique", 300 * time.Millisecond}, o)
		assert.Equal(t, a, insert(t, n, work{"unique", 300 * time.Millisecond}, o))
		return []int64{a}
	}},
	{"Client.JobCancel of a running job", func(t *testing.T, n *node, pool *pgxpool.Pool) []int64 {
		id := insert(t, n, work{Name: "waits"}, nil)
		for rows(t, pool, n.Schema()+".river_job WHERE id = $1 AND state = 'running'", id) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		_, err := n.JobCancel(t.Context(), id)
		require.NoError(t, err)
		return []int64{id}
	}},
	{"Client.JobRetry", func(t *testing.T, n *node, pool *pgxpool.Pool) []int64 {
		id := insert(t, n, work{Name: "fails"}, &river.InsertOpts{MaxAttempts: 1})
		for rows(t, pool, n.Schema()+".river_job WHERE id = $1 AND state = 'discarded'", id) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		_, err := n.JobRetry(t.Context(), id)
		require.NoError(t, err)
		return []int64{id}
	}},
	{"InsertTx", func(t *testing.T, n *node, pool *pgxpool.Pool) (ids []int64) {
		require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			r, err := n.InsertTx(t.Context(), tx, work{Name: "in a transaction"}, nil)
			ids = append(ids, r.Job.ID)
			return err
		}))
		return ids
	}},
	{"periodic jobs", func(t *testing.T, n *node, pool *pgxpool.Pool) (ids []int64) {
		n.PeriodicJobs().Add(river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return work{Name: "periodic"}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}))
		for len(ids) == 0 {
			found, err := pool.Query(t.Context(), "SELECT id FROM "+n.Schema()+".river_job WHERE args->>'name' = 'periodic'")
			require.NoError(t, err)
			ids, err = pgx.CollectRows(found, pgx.RowTo[int64])
			require.NoError(t, err)
		}
		return ids
	}},
	{"soft stop", func(t *testing.T, n *node, pool *pgxpool.Pool) []int64 {
		id := insert(t, n, work{Name: "lasts", Lasts: time.Second}, nil)
		for rows(t, pool, n.Schema()+".river_job WHERE id = $1 AND state = 'running'", id) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		require.NoError(t, n.Stop(t.Context()))
		return []int64{id}
	}},
}

// adds is a middleware of inserts.
type adds struct{ river.MiddlewareDefaults }

func (*adds) InsertMany(
	ctx context.Context, many []*rivertype.JobInsertParams, inner func(context.Context) ([]*rivertype.JobInsertResult, error),
) ([]*rivertype.JobInsertResult, error) {
	for _, p := range many {
		p.Tags = append(p.Tags, "added")
	}
	return inner(ctx)
}

// Each verb leaves the same rows with the plugin as without it, in a schema of its own and with a middleware of inserts.
func TestVerbs(t *testing.T) {
	pool := database(t)
	got := map[string][]string{}
	for _, schema := range []string{"plain", "plugged"} {
		_, err := pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
		require.NoError(t, err)
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet, Schema: schema})
		require.NoError(t, err)
		_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
		require.NoError(t, err)
		n := start(t, pool, "a-"+schema, setup{
			plain: schema == "plain", slots: 20,
			options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{riverplugin.AllKinds: {Copies: true}}, Log: quiet},
			change: func(c *river.Config) {
				c.Schema, c.Middleware = schema, []rivertype.Middleware{&adds{}}
				c.RetryPolicy = soon{}
			},
		}, obeys)
		for _, v := range verbs {
			for _, id := range v.do(t, n, pool) {
				var row string
				require.EventuallyWithT(t, func(c *assert.CollectT) {
					assert.NoError(c, pool.QueryRow(t.Context(), `SELECT format('%s, attempt %s of %s, priority %s, tags %s, errors %s, metadata %s, unique %s',
						state, attempt, max_attempts, priority, tags, (SELECT array_agg(e->>'error') FROM unnest(errors) e),
						metadata - 'cancel_attempted_at', unique_key IS NOT NULL)
						FROM `+schema+`.river_job WHERE id = $1 AND finalized_at IS NOT NULL`, id).Scan(&row))
				}, 20*time.Second, 20*time.Millisecond, v.name)
				got[schema] = append(got[schema], fmt.Sprint(v.name, ": ", row))
			}
		}
	}
	assert.Equal(t, got["plain"], got["plugged"])
	assert.Len(t, got["plain"], len(verbs)+1)
}

// soon is a policy of retries without a long wait.
type soon struct{}

func (soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(100 * time.Millisecond) }
