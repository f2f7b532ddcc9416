package riverplugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/puddle/v2"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// attempt is an attempt that runs in this process, of a job or of a copy. A beat tells the coordinator the exported fields.
type attempt struct {
	mark            // of the job that the attempt may end: its own, or for a copy the original
	ID      int64   `json:"id"`      // of its row
	Share   float64 `json:"share"`   // the reported share of the work
	Watched bool    `json:"watched"` // only listed: its kind is not named, or Run has not begun
	own     string  // the run of its row
	tx      bool    // the handler has called CompleteTx
	cancel  context.CancelCauseFunc
	plugin  *Plugin
}

// mark is what the metadata of a copy say under the key straggler.
type mark struct {
	Job    int64    `json:"job"`              // the original
	Run    string   `json:"run"`              // the run of the original that the copy runs beside
	Client string   `json:"client,omitempty"` // the client of that run
	Name   string   `json:"name,omitempty"`   // of the copy, in the phase
	Avoid  []string `json:"avoid,omitempty"`
}

func (a *attempt) isCopy() bool { return a.own != a.Run }

// runOf returns the name of a run. See [in].
func runOf(job *rivertype.JobRow) string {
	return fmt.Sprintf("%d.%d.%d", job.ID, job.Attempt, job.AttemptedAt.UnixMicro())
}

// ErrOver is the cause of the end of an attempt's context if another attempt of the job has ended the job, or if the job was
// rescued from this attempt. CompleteTx returns it as well. Nothing that the attempt does afterwards changes the job.
var ErrOver = errors.New("riverplugin: this attempt has lost its job: another attempt has ended the job, or it was rescued")

// attemptKey is the key of the attempt in the context of its handler.
type attemptKey struct{}

// Progress reports which share of its work a job has done, from 0 to 1. It may be called at any time from the handler,
// with the handler's context. Then slow jobs are found sooner. Outside of a named kind it does nothing.
func Progress(ctx context.Context, share float64) {
	if a, is := ctx.Value(attemptKey{}).(*attempt); is && share >= 0 && share <= 1 {
		a.plugin.locked(func() { a.Share = share })
	}
}

// CompleteTx completes a job in a transaction, as river.JobCompleteTx does, which fails in named kinds. If another
// attempt of the job has ended the job, it returns [ErrOver]: then roll the transaction back, and its effects with it.
func CompleteTx[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) (*river.Job[T], error) {
	a, is := ctx.Value(attemptKey{}).(*attempt)
	if is {
		a.tx = true
	}
	if !is || a.plugin.options.Shadow {
		return river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	}
	if won, err := a.plugin.claim(ctx, tx.QueryRow, a, true, nil); err != nil || !won {
		return nil, cmp.Or(err, ErrOver)
	}
	row := *job.JobRow
	row.ID, row.State = a.Job, rivertype.JobStateRunning
	return river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, &river.Job[T]{JobRow: &row, Args: job.Args})
}

// claim reports whether the attempt may end its job: if the run of the job goes on, and nobody has claimed its end. A second
// claim of the same attempt is granted again. If added is not nil, the attempt is that of a copy. Then claim also completes the
// job if it may, with added in its metadata, and removes the row of the copy in any case: a copy can only win. Query is that of the
// pool, or of a transaction. As in a rescue, the row of the job is locked before the claim.
func (p *Plugin) claim(
	ctx context.Context, query func(context.Context, string, ...any) pgx.Row, a *attempt, ok bool, added any,
) (won bool, err error) {
	err = query(ctx, p.in(`
		WITH claimed AS (
			INSERT INTO SCHEMA.straggler_end AS e (run, job, by, ok, copy, kind, began)
			SELECT $2::text, id, $3::bigint, $4::boolean, $5::text, kind, attempted_at FROM SCHEMA.river_job j
			WHERE id = $1 AND RUN = $2 AND state = 'running' AND ($4 OR $6::jsonb IS NULL) FOR NO KEY UPDATE
			ON CONFLICT (run) DO UPDATE SET ok = $4 WHERE e.by = $3 RETURNING run -- an earlier try of this attempt
		), completed AS (
			UPDATE SCHEMA.river_job SET state = 'completed', finalized_at = now(), metadata = metadata || $6
			WHERE id = $1 AND $6 IS NOT NULL AND EXISTS (SELECT FROM claimed)
		), dropped AS (
			DELETE FROM SCHEMA.river_job j WHERE id = $3 AND RUN = $7 AND $6 IS NOT NULL
		) SELECT EXISTS (SELECT FROM claimed) OR EXISTS (SELECT FROM SCHEMA.straggler_end WHERE run = $2 AND by = $3)`),
		a.Job, a.Run, a.ID, ok, a.Name, added, a.own).Scan(&won)
	return won, err
}

// guarded is the state of a job's row while its handler runs. It makes River's JobCompleteTx fail: that function does not
// ask whether another attempt has ended the job.
const guarded rivertype.JobState = "running under riverplugin"

// Work is the middleware of River around each attempt. In a named kind it lets only one attempt end a job. In the shadow mode it
// notes the end, and nothing depends on that.
func (p *Plugin) Work(ctx context.Context, job *rivertype.JobRow, handle func(context.Context) error) (err error) {
	kind, named := p.options.of(job.Kind)
	a := p.enter(job, named)
	defer p.locked(func() { delete(p.running, a.own) })
	if a.Watched || !p.ready(ctx) {
		if a.isCopy() {
			return river.JobSnooze(time.Second) // it is left to the others: here it could not end its job
		}
		p.locked(func() { a.Watched = true })
		return handle(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.locked(func() { a.cancel = cancel })
	own, state, returned, acts := keepApart(ctx), job.State, false, !p.options.Shadow
	if a.isCopy() && !p.admit(ctx, a) {
		return own.nothing()
	}
	if acts {
		job.State = guarded
	}
	defer func() {
		job.State = state
		ok := returned && err == nil
		if acts && kind.Copies && !a.isCopy() && (!returned || failed(err)) {
			p.awaitCopy(ctx, a)
		}
		won := p.end(ctx, a, own, ok)
		if notRunning(err) || !acts && ok && !won && !a.tx {
			p.once(job.Kind, "a handler calls river.JobCompleteTx, which fails in named kinds: call riverplugin.CompleteTx", "kind", job.Kind)
		}
		switch {
		case !acts || won && !a.isCopy():
			own.hand() // River reports the end as ever
			return
		case won:
			p.options.Log.Info("riverplugin: a copy was faster", "job", a.Job, "kind", job.Kind, "client", p.client, "than", a.Client)
			err = success(a.Job)
		default:
			err = own.nothing()
		}
		if !returned {
			recover()
		}
	}()
	err = handle(context.WithValue(own, attemptKey{}, a))
	returned = true
	return err
}

// bounce is how long a client that should not run a copy leaves it to the others.
const bounce = 50 * time.Millisecond

// admit reports whether a copy may run here and now. If its job runs no more, its row is removed. If another client should run
// it, it waits again, at the head of the queue. Then this client waits a moment with the slot, so that it is not the first to
// take the copy again.
func (p *Plugin) admit(ctx context.Context, a *attempt) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	pass := p.options.Shadow || slices.Contains(append(a.Avoid, a.Client), p.client)
	wanted := false
	err := p.pool.QueryRow(ctx, p.in(`
		WITH wanted AS (
			SELECT FROM SCHEMA.river_job j WHERE id = $1 AND RUN = $2 AND state = 'running'
		), dropped AS (
			DELETE FROM SCHEMA.river_job WHERE id = $3 AND NOT EXISTS (SELECT FROM wanted)
		), passed AS (
			UPDATE SCHEMA.river_job j SET state = 'available', attempt = 0, attempted_by = NULL, scheduled_at = now() - interval '1 day'
			WHERE id = $3 AND RUN = $4 AND state = 'running' AND $5 AND EXISTS (SELECT FROM wanted) RETURNING queue
		) SELECT EXISTS (SELECT FROM wanted), (SELECT count(TELL) FROM passed)`), a.Job, a.Run, a.ID, a.own, pass).Scan(&wanted, nil)
	if pass {
		time.Sleep(bounce)
	}
	return err == nil && wanted && !pass
}

// end reports whether the attempt may end its job. It claims the end until it has an answer, however long the database is
// away: until then nobody knows. It gives up only if the pool is closed.
func (p *Plugin) end(ctx context.Context, a *attempt, own *apart, ok bool) bool {
	var added any
	if a.isCopy() {
		text, _ := json.Marshal(own.own)
		added = cmp.Or(string(text), "{}")
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		won, err := p.claim(try, p.pool.QueryRow, a, ok, added)
		if cancel(); err == nil || p.options.Shadow {
			return won || err != nil
		}
		if errors.Is(err, puddle.ErrClosedPool) {
			p.options.Log.Error("riverplugin: the end of an attempt is lost", "job", a.Job, "error", err)
			return false
		}
		time.Sleep(pause)
	}
}

// failed reports whether an attempt has failed, and has not said how its job shall go on.
func failed(err error) bool {
	var cancelled *river.JobCancelError
	var snoozed *river.JobSnoozeError
	return err != nil && !errors.As(err, &cancelled) && !errors.As(err, &snoozed)
}

// awaitCopy waits, with the slot, as long as a copy of a job runs whose own attempt has failed: the copy may succeed, and a
// failure costs the job a back-off. It does not wait if the client stops, or if the job is over or cancelled. That the attempt is
// out of time is a failure like another.
func (p *Plugin) awaitCopy(ctx context.Context, a *attempt) {
	for runs := true; !errors.Is(ctx.Err(), context.Canceled); time.Sleep(p.options.Interval) {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		err := p.pool.QueryRow(try, p.in(`SELECT EXISTS (SELECT FROM SCHEMA.river_job
			WHERE state = 'running' AND metadata @> jsonb_build_object('straggler', jsonb_build_object('run', $1::text)))`), a.Run).Scan(&runs)
		if cancel(); err != nil || !runs {
			return
		}
	}
}
