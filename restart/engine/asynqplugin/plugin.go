package asynqplugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// AllKinds is a key of [Options.Kinds]: it stands for each kind that has no key of its own.
const AllKinds = "*"

// Options are the choices of a plugin. All servers of a Redis should have the same.
type Options struct {
	// Kinds names the kinds of tasks that the plugin cures of hangs, by the type of the task, or [AllKinds]. A kind that has
	// no key is only watched: nothing about its tasks changes.
	Kinds map[string]Kind
	// Shadow turns on the shadow mode: the plugin decides as usual, writes to the log what it would do, and changes no task.
	// Plugins that act leave the tasks of its server alone. A copy of another server's task is passed on.
	Shadow bool
	// Interval is how often the coordinator looks at the running tasks, as long as there are any. Without any, it looks
	// once a second. It is 10 ms to 1 s; 0 means 100 ms.
	Interval time.Duration
	// Log gets a line for each attempt that is ended since it hangs, each copy, and each server that is lost or comes
	// back. Nil means slog.Default().
	Log *slog.Logger
}

// Kind is what the plugin does for the tasks of a kind. In the zero value, an attempt that hangs is ended.
type Kind struct {
	// Copies lets slow tasks have copies, which run beside the task on another server. The first of both that succeeds
	// is the result. Copies are for handlers that may run twice at the same time.
	Copies bool
	// Work returns the size of a task by its payload, in a unit of your choice. Then a task that is long since it is
	// large does not count as slow. Nil, or a result that is not positive, means that the size is not known.
	Work func(payload []byte) float64
}

// fill checks the options and fills in the defaults.
func (o *Options) fill() error {
	o.Interval = cmp.Or(o.Interval, 100*time.Millisecond)
	if o.Interval < 10*time.Millisecond || o.Interval > time.Second { // rarer turns would miss what happens
		return fmt.Errorf("asynqplugin: Options.Interval is %v, want 10ms to 1s, or 0 for 100ms", o.Interval)
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return nil
}

// of returns what the plugin does for a kind, and whether the options name the kind.
func (o *Options) of(kind string) (k Kind, named bool) {
	if k, named = o.Kinds[kind]; !named {
		k, named = o.Kinds[AllKinds]
	}
	return k, named
}

// Plugin cures and copies the tasks of a server of asynq. Each server needs a plugin of its own. Put [Plugin.Middleware]
// around the server's handler, and call [Plugin.Run]. It is safe for concurrent use.
type Plugin struct {
	options   Options
	redis     redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
	process   string   // the key that says that this process has a plugin
	name      string   // of the server: its host, its process ID, and eight random letters
	running   sync.Map // by the name of each attempt that runs here, its context.CancelCauseFunc
}

// New returns a plugin for a server that uses the connection. If an option is out of range, New returns an error that
// states the option.
func New(conn asynq.RedisConnOpt, o Options) (*Plugin, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	var c redis.UniversalClient
	if conn != nil {
		c, _ = conn.MakeRedisClient().(redis.UniversalClient)
	}
	if c == nil {
		return nil, fmt.Errorf("asynqplugin: New: the connection is of type %T, want one of asynq's", conn)
	}
	host, _ := os.Hostname()
	return &Plugin{
		options: o, redis: c, client: asynq.NewClientFromRedisClient(c), inspector: asynq.NewInspectorFromRedisClient(c),
		process: processKey(host, os.Getpid()), name: fmt.Sprintf("%s:%d:%s", host, os.Getpid(), rand.Text()[:8]),
	}, nil
}

// idle is the time between two turns if no task of a named kind runs.
const idle = time.Second

// Run looks for attempts that are slow or hang, at all servers. Call it on a goroutine of its own. Let ctx end with the
// server, or after it: Run returns when ctx has ended. Without Run, tasks run as with asynq alone, and get no help.
func (p *Plugin) Run(ctx context.Context) {
	c := newCoordinator(p)
	for pause := idle; ; pause = idle {
		if err := c.turn(ctx); err != nil && ctx.Err() == nil {
			p.options.Log.Warn("asynqplugin: the events can't be read", "server", p.name, "error", err)
		}
		if len(c.tasks) > 0 {
			pause = p.options.Interval
		}
		select {
		case <-ctx.Done():
			_ = p.redis.Del(context.WithoutCancel(ctx), p.process).Err() // else it expires
			return
		case <-time.After(pause):
		}
	}
}

// over ends an attempt, if it runs here.
func (p *Plugin) over(name string, cause error) {
	if cancel, is := p.running.Load(name); is && !p.options.Shadow {
		cancel.(context.CancelCauseFunc)(cause)
	}
}
