package riverplugin_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/servers"
	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// faults are what happens to two clients that work jobs. The clients live all the time.
var faults = []struct {
	name string
	do   func(t *testing.T, s *servers.Postgres, admin *pgx.Conn)
}{
	{"nothing", func(*testing.T, *servers.Postgres, *pgx.Conn) {}},
	{"the database is away for eight seconds", func(t *testing.T, s *servers.Postgres, _ *pgx.Conn) {
		s.Crash()
		time.Sleep(8 * time.Second)
		assert.NoError(t, s.Start())
	}},
	{"the database crashes and begins again at once", func(t *testing.T, s *servers.Postgres, _ *pgx.Conn) {
		s.Crash()
		assert.NoError(t, s.Start())
	}},
	{"the beats of all clients seem ten seconds old", func(t *testing.T, _ *servers.Postgres, admin *pgx.Conn) {
		_, err := admin.Exec(context.Background(), "UPDATE straggler_client SET seen = seen - interval '10 s'")
		assert.NoError(t, err)
	}},
	{"the connections of a client are frozen, and new ones work", func(t *testing.T, _ *servers.Postgres, admin *pgx.Conn) {
		rows, err := admin.Query(context.Background(), "SELECT pid FROM pg_stat_activity WHERE application_name = 'a'")
		assert.NoError(t, err)
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		assert.NoError(t, err)
		for _, pid := range pids {
			assert.NoError(t, syscall.Kill(int(pid), syscall.SIGSTOP))
		}
		time.Sleep(10 * time.Second)
		for _, pid := range pids {
			_ = syscall.Kill(int(pid), syscall.SIGCONT)
		}
	}},
	{"another coordinator takes over, again and again", func(t *testing.T, _ *servers.Postgres, admin *pgx.Conn) {
		for range 20 {
			_, err := admin.Exec(context.Background(), "UPDATE straggler_lease SET until = now(), holder = 'nobody', term = term + 1")
			assert.NoError(t, err)
			time.Sleep(200 * time.Millisecond)
		}
	}},
}

// The database fails in many ways while the clients live. No job is lost, and none is begun again. The pools have four
// connections, which handlers hold at the same time.
func TestFaultsOfTheDatabase(t *testing.T) {
	long(t)
	for _, f := range faults {
		for i := range times {
			t.Run(fmt.Sprint(f.name, " ", i), func(t *testing.T) { fault(t, f.do) })
		}
	}
}

func fault(t *testing.T, do func(*testing.T, *servers.Postgres, *pgx.Conn)) {
	s, err := servers.StartPostgres()
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	var mu sync.Mutex
	begun := map[int64]int{}
	var nodes []*node
	log := &lines{}
	for _, name := range []string{"a", "b"} {
		c, err := pgxpool.ParseConfig(s.URL + "&application_name=" + name)
		require.NoError(t, err)
		c.MaxConns = 4
		pool, err := pgxpool.NewWithConfig(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		if name == "a" {
			migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
			require.NoError(t, err)
			_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
			require.NoError(t, err)
		}
		handle := func(ctx context.Context, name string, job *river.Job[work]) error {
			mu.Lock()
			begun[job.ID]++
			mu.Unlock()
			if conn, err := pool.Acquire(ctx); err == nil { // all connections are held most of the time
				time.Sleep(job.Args.Lasts / 2)
				conn.Release()
			}
			time.Sleep(job.Args.Lasts / 2)
			return nil
		}
		nodes = append(nodes, start(t, pool, name, setup{
			slots: 8, options: riverplugin.Options{Log: log.log(), Kinds: map[string]riverplugin.Kind{"work": {}}},
		}, handle))
	}
	admin, err := pgx.Connect(t.Context(), s.URL)
	require.NoError(t, err)
	defer admin.Close(context.Background())
	var ids []int64
	for i := range 30 { // too few to learn when a job of the kind hangs
		ids = append(ids, insert(t, nodes[0], work{fmt.Sprint(i), 2500 * time.Millisecond}, nil))
	}
	time.Sleep(2 * time.Second)
	do(t, s, admin)
	var results []riverplugin.Result
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		results, err = nodes[1].plugin.Wait(ctx, ids...)
		assert.NoError(c, err)
	}, 2*time.Minute, time.Second)
	for i, r := range results {
		assert.NoError(t, r.Err)
		assert.Equal(t, 1, begun[ids[i]], "job %d was begun again while its client lived", ids[i])
	}
	if t.Failed() {
		t.Log(log.text.String())
	}
	assert.Zero(t, log.count("a client is lost"))
	assert.Zero(t, log.count("a job was rescued"))
}
