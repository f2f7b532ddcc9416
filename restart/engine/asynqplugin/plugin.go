package asynqplugin

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

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
		if len(c.names) > 0 {
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
