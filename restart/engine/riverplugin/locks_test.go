package riverplugin_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// A transaction with CompleteTx stays open, as that of a client that was lost. A rescue of its job does not wait for it, and
// neither does a rescue that the database refuses stop others. The job is as the transaction says.
func TestARescueWaitsForNoTransaction(t *testing.T) {
	pool := database(t)
	held, commit := make(chan int64), make(chan struct{})
	n := start(t, pool, "a", setup{options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet}},
		func(ctx context.Context, _ string, job *river.Job[work]) error {
			if job.Args.Name == "waits" {
				held <- job.ID
				<-commit
				return nil
			}
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				_, err := riverplugin.CompleteTx(ctx, tx, job)
				held <- job.ID
				<-commit
				return err
			})
		})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	id := insert(t, n, work{Name: "completes"}, nil)
	<-held
	assert.NoError(t, n.plugin.Rescue(ctx, id))
	refused := insert(t, n, work{Name: "waits"}, &river.InsertOpts{Metadata: []byte(`{"river:rescue_count": "no number"}`)})
	<-held
	assert.NoError(t, n.plugin.Rescue(ctx, refused))
	close(commit)
	assert.Equal(t, []string{"", ""}, outputs(t, n, id, refused))
	assert.Equal(t, 2, rows(t, pool, "river_job WHERE state = 'completed' AND attempt = 1 AND errors IS NULL"))
}

// The answer to a claim is lost. The attempt claims again while the first claim commits, and wins.
func TestAClaimIsRepeated(t *testing.T) {
	pool := database(t)
	end := make(chan struct{})
	n := start(t, pool, "a", setup{options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"other": {}}, Log: quiet}},
		func(context.Context, string, *river.Job[work]) error { <-end; return nil })
	defer close(end)
	id := insert(t, n, work{}, nil)
	require.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'running'") == 1 }, 10*time.Second, 10*time.Millisecond)
	run, err := n.plugin.RunOf(t.Context(), id)
	require.NoError(t, err)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO straggler_end (run, job, by, ok, copy, kind, began)
		SELECT $2, id, id, true, '', kind, attempted_at FROM river_job WHERE id = $1`, id, run)
	require.NoError(t, err)
	time.AfterFunc(time.Second/2, func() { _ = tx.Commit(context.Background()) })
	won, err := n.plugin.Claim(t.Context(), id, id, 1, 0)
	assert.NoError(t, err)
	assert.True(t, won)
	won, err = n.plugin.Claim(t.Context(), id, id, 2, 0)
	assert.NoError(t, err)
	assert.False(t, won, "the job has no second attempt")
}

// Two clients share a plugin by mistake. The jobs of the client without Run end as with River alone, in their own schema. It works no
// copies: they are left to others.
func TestASecondClientOfAPlugin(t *testing.T) {
	pool := database(t)
	log := &lines{}
	var worked atomic.Int32
	handle := func(context.Context, string, *river.Job[work]) error { worked.Add(1); return nil }
	a := start(t, pool, "a", setup{options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: log.log()}}, handle)
	b := start(t, pool, "b", setup{plain: true, change: func(c *river.Config) {
		c.Schema, c.Plugins = migrated(t, pool, "other"), append(c.Plugins, a.plugin)
	}}, handle)
	id := insert(t, b, work{}, nil)
	assert.Eventually(t, func() bool { return rows(t, pool, "other.river_job WHERE id = $1 AND state = 'completed'", id) == 1 },
		10*time.Second, 10*time.Millisecond)
	id = insert(t, b, work{}, &river.InsertOpts{MaxAttempts: 1, Metadata: []byte(`{"straggler": {"job": 1, "run": "1.1.1"}}`)})
	assert.Eventually(t, func() bool {
		return rows(t, pool, "other.river_job WHERE id = $1 AND state = 'available' AND metadata ? 'snoozes'", id) == 1
	}, 10*time.Second, 10*time.Millisecond)
	assert.Equal(t, int32(1), worked.Load())
	a.plugin.Run(t.Context(), b.Client)
	assert.Equal(t, 1, log.count("a second client has the same Plugin"))
	assert.Equal(t, 1, log.count("Plugin.Run was called again"))
}

// migrated creates a schema with River's tables.
func migrated(t *testing.T, pool *pgxpool.Pool, schema string) string {
	_, err := pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet, Schema: schema})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	return schema
}

// The functions of the pool that prepare a connection prepare the plugin's own, too.
func TestThePoolPreparesConnections(t *testing.T) {
	pool := database(t)
	migrated(t, pool, "chosen")
	c := pool.Config()
	user := c.ConnConfig.User
	c.ConnConfig.User = "nobody"
	c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { c.User = user; return nil }
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET search_path = chosen")
		return err
	}
	prepared, err := pgxpool.NewWithConfig(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(prepared.Close)
	n := start(t, prepared, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	assert.Equal(t, []string{"text"}, outputs(t, n, insert(t, n, work{Name: "output"}, nil)))
	assert.Equal(t, 1, rows(t, pool, "chosen.straggler_end"))
}

// All clients were away for longer than an hour. A job of a client that does not come back is rescued.
func TestARescueAfterHours(t *testing.T) {
	pool := database(t)
	start(t, pool, "first", setup{options: riverplugin.Options{Log: quiet}}, obeys).stop()
	_, err := pool.Exec(t.Context(), `WITH m AS (INSERT INTO straggler_member VALUES ('dead', '', '{*}'), ('idle', '', '{*}'))
		INSERT INTO straggler_client SELECT c, now() - interval '2 hours', 1, '{}', '{}' FROM unnest(ARRAY['dead', 'idle']) c`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO river_job (args, kind, max_attempts, state, attempt, attempted_at, attempted_by)
		VALUES ('{}', 'work', 2, 'running', 1, now() - interval '2 hours', '{dead}')`)
	require.NoError(t, err)
	start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'completed' AND attempt = 2") == 1 },
		20*time.Second, 100*time.Millisecond)
	assert.Zero(t, rows(t, pool, "straggler_client WHERE client = 'idle'")+rows(t, pool, "straggler_member WHERE client = 'idle'"))
}

// A transaction pooler allows no prepared statements. The plugin's statements do without, as the pool says.
func TestAPoolWithoutPreparedStatements(t *testing.T) {
	for name, mode := range map[string]pgx.QueryExecMode{"exec": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol} {
		t.Run(name, func(t *testing.T) {
			c := database(t).Config()
			c.ConnConfig.DefaultQueryExecMode = mode
			pool, err := pgxpool.NewWithConfig(t.Context(), c)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			log, begun := &lines{}, make(chan int64, 3)
			s := setup{options: riverplugin.Options{Log: log.log(), Kinds: map[string]riverplugin.Kind{"work": {}}}}
			handle := func(ctx context.Context, name string, job *river.Job[work]) error {
				begun <- job.ID
				if job.Args.Name == "rescued" && job.Attempt == 1 || name == "a" {
					<-ctx.Done()
					return ctx.Err()
				}
				return river.RecordOutput(ctx, name)
			}
			a := start(t, pool, "a", s, handle)
			id := insert(t, a, work{Name: "copied"}, nil)
			<-begun
			start(t, pool, "b", s, handle)
			made, err := a.plugin.Copy(t.Context(), id)
			assert.NoError(t, err)
			assert.True(t, made)
			assert.Equal(t, []string{"b"}, outputs(t, a, id))
			assert.Eventually(t, func() bool { return rows(t, pool, "straggler_client WHERE client = 'a' AND running = '{}'") == 1 },
				10*time.Second, 10*time.Millisecond, "the original is ended")
			<-begun // the copy
			id = insert(t, a, work{Name: "rescued"}, &river.InsertOpts{MaxAttempts: 1})
			<-begun
			assert.NoError(t, a.plugin.Rescue(t.Context(), id))
			assert.Contains(t, outputs(t, a, id)[0], "straggler: rescued")
			assert.Zero(t, log.count("level=WARN msg=\"riverplugin: the database does not answer")+log.count("level=ERROR"), log.text.String())
		})
	}
}

// A machine with Postgres and a client loses its power: after the crash, the table of beats is empty, and the client is gone. Its
// jobs are rescued. The row of a client that has no jobs and does not come back is removed.
func TestAClientThatDiesWithPostgres(t *testing.T) {
	pool := database(t)
	start(t, pool, "first", setup{options: riverplugin.Options{Log: quiet}}, obeys).stop()
	_, err := pool.Exec(t.Context(), `INSERT INTO straggler_member VALUES ('dead', '', '{*}'), ('idle', '', '{*}')`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO river_job (args, kind, max_attempts, state, attempt, attempted_at, attempted_by)
		VALUES ('{}', 'work', 2, 'running', 1, now(), '{dead}')`)
	require.NoError(t, err)
	start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'completed' AND attempt = 2") == 1 },
		20*time.Second, 100*time.Millisecond)
	assert.Zero(t, rows(t, pool, "straggler_member WHERE client = 'idle'"))
}

// The role of the program may not create tables. If another role has created them, the plugin works.
func TestARoleThatCreatesNoTables(t *testing.T) {
	pool := database(t)
	start(t, pool, "first", setup{options: riverplugin.Options{Log: quiet}}, obeys).stop()
	_, err := pool.Exec(t.Context(), `CREATE ROLE app LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO app;
		GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app; REVOKE CREATE ON SCHEMA public FROM app, public`)
	require.NoError(t, err)
	c := pool.Config()
	c.ConnConfig.User = "app"
	app, err := pgxpool.NewWithConfig(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(app.Close)
	n := start(t, app, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	assert.Equal(t, []string{"text"}, outputs(t, n, insert(t, n, work{Name: "output"}, nil)))
}

// An earlier coordinator made copies. One waits in a queue that nobody works, and its job runs no more. It is removed.
func TestCopiesThatWereLeft(t *testing.T) {
	pool := database(t)
	n := start(t, pool, "first", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	id := insert(t, n, work{Name: "output"}, nil)
	outputs(t, n, id)
	n.stop()
	_, err := pool.Exec(t.Context(), `INSERT INTO river_job (args, kind, max_attempts, state, queue, metadata)
		VALUES ('{}', 'work', 1, 'available', 'nobody', jsonb_build_object('straggler', jsonb_build_object('job', $1::bigint, 'attempt', 1)))`, id)
	require.NoError(t, err)
	start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job") == 1 }, 10*time.Second, 10*time.Millisecond)
}

// The database refuses an order, and is slow with others. Each turn of the coordinator ends after a moment, and the other orders have
// their turn all the same.
func TestEachOrderHasItsTurn(t *testing.T) {
	pool := database(t)
	block := func(ctx context.Context, _ string, _ *river.Job[work]) error { return pause(ctx, time.Minute) }
	n := start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet, Kinds: map[string]riverplugin.Kind{"work": {}}}}, block)
	var ids []int64
	for _, name := range []string{"slow", "slow", "refused", "good"} {
		ids = append(ids, insert(t, n, work{Name: name}, nil))
	}
	require.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'running'") == 4 }, 10*time.Second, 10*time.Millisecond)
	_, err := pool.Exec(t.Context(), `CREATE SEQUENCE slow; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.args->>'name' = 'slow' THEN PERFORM nextval('slow'), pg_sleep(0.6); END IF;
			IF NEW.args->>'name' <> 'good' THEN RAISE EXCEPTION 'refused'; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER refuses BEFORE UPDATE ON river_job FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	for turns := 0; rows(t, pool, "river_job WHERE id = $1 AND state = 'running' AND attempt = 1", ids[3]) == 1; turns++ {
		require.Less(t, turns, 40)
		before := rows(t, pool, "(SELECT nextval('slow') AS n) AS s, generate_series(1, n)")
		require.NoError(t, n.plugin.Rescue(t.Context(), ids...))
		after := rows(t, pool, "(SELECT nextval('slow') AS n) AS s, generate_series(1, n)")
		assert.LessOrEqual(t, after-before, 2, "a turn waits for one slow order at most")
	}
}
