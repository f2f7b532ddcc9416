package riverplugin

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/puddle/v2"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// attempt is an attempt that runs in this process: of a job in a named kind, or of a copy.
type attempt struct {
	own    run  // of its own row
	of     run  // the run that the attempt may end: its own, or for a copy that of the original
	copied mark // for a copy: what its metadata say
	// The attempt is only listed: its kind is not named, or it began before Run. Nothing else is done with it.
	watched bool
	cancel  context.CancelCauseFunc
	// In the shadow mode: the handler has called CompleteTx.
	completed bool
	share     atomic.Uint64 // the bits of the reported share of the work
}

// mark is what the metadata of a copy say under the key straggler.
type mark struct {
	Job     int64     `json:"job"`     // the original
	Attempt int       `json:"attempt"` // the attempt of the original that the copy runs beside
	Began   time.Time `json:"began"`   // when that attempt began
	Client  string    `json:"client"`  // the client of that attempt
	Avoid   []string  `json:"avoid,omitempty"`
}

func (a *attempt) isCopy() bool { return a.copied.Job != 0 }

// name is the name of an attempt in a beat.
func (a *attempt) name() string {
	if a.watched {
		return watchedPrefix + a.own.String()
	}
	return a.own.String()
}

// watchedPrefix is the beginning of the names of attempts that are only watched.
const watchedPrefix = "w"

// Causes of the end of an attempt's context.
var (
	// ErrOver is the cause if another attempt of the job has ended the job, or if the job was rescued from this attempt.
	// CompleteTx returns it as well. Nothing that the attempt does afterwards changes the job.
	ErrOver = errors.New("riverplugin: this attempt has lost its job: another attempt has ended the job, or it was rescued")

	errReturned = errors.New("riverplugin: the attempt has returned")
)

// attemptKey is the key of the attempt in the context of its handler. In the shadow mode the key is shadowKey.
type (
	attemptKey struct{}
	shadowKey  struct{}
)

// Progress reports which share of its work a job has done, from 0 to 1. It may be called at any time from the handler,
// with the handler's context. Then slow jobs are found sooner. Outside of a named kind it does nothing.
func Progress(ctx context.Context, share float64) {
	if a, is := ctx.Value(attemptKey{}).(*attempt); is && share >= 0 && share <= 1 {
		a.share.Store(math.Float64bits(share))
	}
}

// CompleteTx completes a job in a transaction, as river.JobCompleteTx does, which fails in named kinds. If another
// attempt of the job has ended the job, it returns [ErrOver]: then roll the transaction back, and its effects with it.
func CompleteTx[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) (*river.Job[T], error) {
	if a, is := ctx.Value(shadowKey{}).(*attempt); is {
		a.completed = true
	}
	a, is := ctx.Value(attemptKey{}).(*attempt)
	if !is {
		return river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	}
	client, err := river.ClientFromContextSafely[pgx.Tx](ctx)
	if err != nil {
		return nil, err
	}
	won, err := claim(ctx, tx, client.Schema(), a, true)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrOver
	}
	row := *job.JobRow
	row.ID, row.State = a.of.id, rivertype.JobStateRunning
	return river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, &river.Job[T]{JobRow: &row, Args: job.Args})
}

// claim reports whether the attempt may end its job: if the attempt of the job still runs, and nobody has claimed it. A
// second claim of the same attempt is granted again.
func claim(ctx context.Context, q querier, schema string, a *attempt, ok bool) (won bool, err error) {
	by := int64(-1)
	lock := ""
	if _, is := q.(pgx.Tx); is {
		lock = "FOR NO KEY UPDATE" // as in a rescue, the row of the job is locked before the claim
	}
	err = q.QueryRow(ctx, in(schema, `
		INSERT INTO SCHEMA.straggler_end (job, attempt, began, by, ok, kind)
		SELECT id, attempt, attempted_at, $4::bigint, $5::boolean, kind FROM SCHEMA.river_job
		WHERE id = $1 AND attempt = $2 AND attempted_at = $3 AND state = 'running'
		`+lock+` ON CONFLICT DO NOTHING RETURNING by`),
		a.of.id, a.of.attempt, time.UnixMicro(a.of.begun), a.own.id, ok).Scan(&by)
	if errors.Is(err, pgx.ErrNoRows) {
		// A statement of its own: it sees a claim that the first waited for, which may be an earlier try of this attempt.
		err = q.QueryRow(ctx, in(schema, `SELECT by FROM SCHEMA.straggler_end WHERE job = $1 AND attempt = $2 AND began = $3`),
			a.of.id, a.of.attempt, time.UnixMicro(a.of.begun)).Scan(&by)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return by == a.own.id, err
}

// guarded is the state of a job's row while its handler runs. It makes River's JobCompleteTx fail: that function does not
// ask whether another attempt has ended the job.
const guarded rivertype.JobState = "running under riverplugin"

// Work is the middleware of River around each attempt. In a named kind it lets only one attempt end a job.
func (p *Plugin) Work(ctx context.Context, job *rivertype.JobRow, handle func(context.Context) error) (err error) {
	p.busy.Add(1)
	defer p.busy.Add(-1)
	a, err := p.attemptOf(ctx, job)
	switch {
	case err != nil:
		return err
	case a == nil:
		a = &attempt{own: runOf(job), watched: true}
		p.enter(a)
		defer p.leave(a)
		return handle(ctx)
	}
	closed := hidden()
	if a.isCopy() {
		if err, runs := p.admit(ctx, a, closed); !runs {
			return err
		}
	}
	if p.options.Shadow {
		p.enter(a)
		defer p.leave(a)
		err = handle(context.WithValue(ctx, shadowKey{}, a))
		if ended := p.note(ctx, a, err == nil); err == nil && !ended && !a.completed {
			p.useCompleteTx(job.Kind)
		}
		return err
	}
	ctx, a.cancel = context.WithCancelCause(ctx)
	defer a.cancel(errReturned)
	own := &apart{Context: ctx}
	p.enter(a)
	defer p.leave(a)
	state, returned := job.State, false
	job.State = guarded
	defer func() {
		job.State = state
		if !a.isCopy() && (!returned || failed(err)) {
			p.awaitCopy(ctx, a, job.Kind)
		}
		if e, mine := p.end(ctx, a, job.Kind, own, returned && err == nil, closed); !mine {
			if !returned {
				recover()
			}
			err = e
		}
	}()
	err = handle(context.WithValue(own, attemptKey{}, a))
	returned = true
	if notRunning(err) {
		p.useCompleteTx(job.Kind)
	}
	return err
}

// attemptOf returns the attempt of a row, or nil if its kind is only watched.
func (p *Plugin) attemptOf(ctx context.Context, job *rivertype.JobRow) (*attempt, error) {
	a := &attempt{own: runOf(job), of: runOf(job)}
	var of struct{ Straggler mark }
	if json.Unmarshal(job.Metadata, &of) == nil && of.Straggler.Job != 0 {
		a.of, a.copied = of.Straggler.of(), of.Straggler
		if !p.ready(ctx) || p.stranger(ctx) {
			return nil, river.JobSnooze(time.Second) // without Run this client can't tell what the copy may end
		}
		return a, nil
	}
	if _, named := p.options.of(job.Kind); !named || !p.ready(ctx) || p.stranger(ctx) {
		return nil, nil
	}
	return a, nil
}

// runOf returns the run of a job that begins.
func runOf(job *rivertype.JobRow) run {
	j := run{id: job.ID, attempt: job.Attempt}
	if job.AttemptedAt != nil { // River always sets it
		j.begun = job.AttemptedAt.UnixMicro()
	}
	return j
}

// bounce is how long a client that should not run a copy leaves it to the others.
const bounce = 50 * time.Millisecond

// admit reports whether a copy may run here and now. If not, it returns what the middleware returns.
func (p *Plugin) admit(ctx context.Context, a *attempt, closed bool) (err error, runs bool) {
	var wanted bool
	err = p.pool.QueryRow(ctx, p.in(`SELECT EXISTS (
		SELECT FROM SCHEMA.river_job WHERE id = $1 AND attempt = $2 AND attempted_at = $3 AND state = 'running'
	)`), a.of.id, a.of.attempt, time.UnixMicro(a.of.begun)).Scan(&wanted)
	switch {
	case err != nil || !wanted:
		p.drop(ctx, a)
	case p.options.Shadow || slices.Contains(append(a.copied.Avoid, a.copied.Client), p.name()):
		p.pass(ctx, a, closed)
	default:
		return nil, true
	}
	return silent(closed), false
}

// pass puts a copy back for another client, at the head of the queue. It waits a moment with the slot, so that this client
// is not the first to take the copy again. If River may write to the row of the attempt, the copy gets another row.
func (p *Plugin) pass(ctx context.Context, a *attempt, closed bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	p.pool.Exec(ctx, p.in(`
		WITH passed AS (
			UPDATE SCHEMA.river_job SET state = 'available', attempt = 0, scheduled_at = now() - interval '1 day',
				id = CASE WHEN $2 THEN nextval(pg_get_serial_sequence('SCHEMA.river_job', 'id')) ELSE id END
			WHERE id = $1 AND state = 'running' AND metadata ? 'straggler' RETURNING queue
		)
		SELECT `+tell+` FROM passed`), a.own.id, closed, *p.schema())
	time.Sleep(bounce)
}

// end ends an attempt. If mine is set, the attempt has ended its own job, and River reports it as ever. Otherwise err
// is what the middleware returns. Ok says that the handler has returned without an error. Closed says that River may
// not see an error of type reports.
func (p *Plugin) end(ctx context.Context, a *attempt, kind string, own *apart, ok, closed bool) (err error, mine bool) {
	ctx = context.WithoutCancel(ctx)
	if a.isCopy() && !ok {
		p.drop(ctx, a) // a copy can only win
		return silent(closed), false
	}
	won := false
	claimed := p.persist(ctx, func(ctx context.Context) (err error) {
		if a.isCopy() && closed {
			won, err = p.complete(ctx, a, own)
			return err
		}
		won, err = claim(ctx, p.pool, *p.schema(), a, ok)
		return err
	})
	switch {
	case claimed != nil:
		p.options.Log.Error("riverplugin: the end of an attempt is lost", "job", a.of.id, "error", claimed)
		return silent(closed), false
	case won && !a.isCopy():
		own.hand()
		return nil, true
	case won:
		p.options.Log.Info("riverplugin: a copy was faster", "job", a.of.id, "kind", kind, "client", p.name(), "than", a.copied.Client)
		p.drop(ctx, a)
		if closed {
			return nil, false // complete has told the database
		}
		own.hand()
		return success(a.of.id), false
	}
	p.drop(ctx, a)
	if closed && !a.isCopy() {
		p.hold(ctx, a)
	}
	return silent(closed), false
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
func (p *Plugin) awaitCopy(ctx context.Context, a *attempt, kind string) {
	if k, _ := p.options.of(kind); !k.Copies {
		return
	}
	for !errors.Is(ctx.Err(), context.Canceled) {
		var runs bool
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		err := p.pool.QueryRow(try, p.in(`SELECT EXISTS (
			SELECT FROM SCHEMA.river_job
			WHERE state = 'running' AND metadata @> jsonb_build_object('straggler', jsonb_build_object('job', $1::bigint, 'attempt', $2::int))
		) AND NOT EXISTS (SELECT FROM SCHEMA.straggler_end WHERE job = $1 AND attempt = $2 AND began = $3)`),
			a.of.id, a.of.attempt, time.UnixMicro(a.of.begun)).Scan(&runs)
		if cancel(); err != nil || !runs {
			return
		}
		time.Sleep(p.options.Interval)
	}
}

// persist calls f until it returns no error, however long the database is away: until then nobody knows whether the attempt
// may end its job. It returns an error only if the pool is closed.
func (p *Plugin) persist(ctx context.Context, f func(context.Context) error) (err error) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		try, cancel := context.WithTimeout(ctx, patience)
		err = f(try)
		if cancel(); err == nil || errors.Is(err, puddle.ErrClosedPool) {
			return err
		}
		time.Sleep(pause)
	}
}

// complete completes the job of a copy in a transaction, where River can't be told to do it.
func (p *Plugin) complete(ctx context.Context, a *attempt, own *apart) (won bool, err error) {
	added, err := json.Marshal(own.own)
	if err != nil || own.own == nil {
		added = []byte("{}")
	}
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if won, err = claim(ctx, tx, *p.schema(), a, true); err != nil || !won {
			return err
		}
		_, err = tx.Exec(ctx, p.in(`UPDATE SCHEMA.river_job
			SET state = 'completed', finalized_at = now(), metadata = metadata || $2::jsonb WHERE id = $1 AND state = 'running'`),
			a.of.id, string(added))
		return err
	})
	return won, err
}

// drop removes the row of a copy. For other attempts it does nothing. If the row can't be removed now, the coordinator
// removes it later.
func (p *Plugin) drop(ctx context.Context, a *attempt) {
	if a.isCopy() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		p.pool.Exec(ctx, p.in(`DELETE FROM SCHEMA.river_job WHERE id = $1 AND metadata ? 'straggler'`), a.own.id)
	}
}

// silent returns what the middleware returns for an attempt that has ended nothing. If River would not see that it should
// report nothing, a success is best: the row is gone, or it does not run, and River writes only to rows that run.
func silent(closed bool) error {
	if closed {
		return nil
	}
	return nothing()
}

// hold waits until no attempt of the job runs or will run soon. It is for an attempt that has lost its job where River can't be
// told to report nothing: River would end the row on behalf of the attempt that runs now.
func (p *Plugin) hold(ctx context.Context, a *attempt) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		var runs bool
		try, cancel := context.WithTimeout(ctx, patience)
		err := p.pool.QueryRow(try, p.in(`SELECT EXISTS (
			SELECT FROM SCHEMA.river_job
			WHERE id = $1 AND finalized_at IS NULL AND (state IN ('running', 'available') OR scheduled_at < now() + interval '10 s')
		)`), a.of.id).Scan(&runs)
		if cancel(); err == nil && !runs || errors.Is(err, puddle.ErrClosedPool) {
			return
		}
		time.Sleep(pause)
	}
}

// note records the end of an attempt in the shadow mode, where nothing depends on it. It returns false if the handler has
// ended the job itself.
func (p *Plugin) note(ctx context.Context, a *attempt, ok bool) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	won, err := claim(ctx, p.pool, *p.schema(), a, ok)
	return won || err != nil
}

// useCompleteTx tells the user, once for each kind, that handlers must change.
func (p *Plugin) useCompleteTx(kind string) {
	if _, told := p.warned.LoadOrStore(kind, true); !told {
		p.options.Log.Warn("riverplugin: a handler calls river.JobCompleteTx, which fails in named kinds: call riverplugin.CompleteTx", "kind", kind)
	}
}
