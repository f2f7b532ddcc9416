package sqlqueue_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// backend returns a queue as queuetest checks it.
func backend(t *testing.T, db *sql.DB, name string) queuetest.Backend {
	q, err := sqlqueue.Open(t.Context(), db, name)
	require.NoError(t, err)
	return queuetest.Backend{
		Store: q, Source: q,
		Insert: func(batch string, jobs []queue.Job) (err error) {
			ctx := context.Background()
			if batch != "" {
				return sqlqueue.InsertBatch(q, ctx, batch, jobs)
			}
			for _, j := range jobs {
				_, err = q.Insert(ctx, nil, sqlqueue.Job{Kind: j.Kind, Input: j.Input})
			}
			return err
		},
		Results: func(batch string) ([]queue.Result, bool, error) {
			return sqlqueue.Results(q, context.Background(), batch)
		},
	}
}

func openSQLite(t *testing.T) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "jobs.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSQLite(t *testing.T) {
	queuetest.Test(t, func(t *testing.T) queuetest.Backend { return backend(t, openSQLite(t), "default") })
}

// All queues of this test are in one database, and have odd names.
func TestPostgres(t *testing.T) {
	url, _ := queuetest.Postgres(t)
	var n atomic.Int64
	t.Run("", func(t *testing.T) { // so that the server runs until all checks have ended
		queuetest.Test(t, func(t *testing.T) queuetest.Backend {
			db, err := sql.Open("pgx", url)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			return backend(t, db, fmt.Sprint("queue's ", n.Add(1)))
		})
	})
}
