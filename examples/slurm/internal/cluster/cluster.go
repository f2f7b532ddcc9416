// Package cluster runs a Slurm cluster on one host for a demonstration or a test: munged, slurmctld and some slurmd
// from Debian's packages, with a key, a configuration and ports of their own, everything below one directory, on the
// loopback interface only. Each node is a PID namespace, so that killing a node kills all that runs on it, at once.
package cluster

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// Config describes a cluster. Nodes are named n0, n1, …
type Config struct {
	Dir         string        // directory of all files; created if it does not exist, and not removed
	Nodes       int           // number of nodes
	CPUs        int           // CPUs of each node; may be more than the host has, since the tasks of a demonstration mostly sleep
	NodeTimeout time.Duration // a node that does not answer for this time is down; whole seconds
}

// Cluster is a cluster that runs.
type Cluster struct {
	config  Config
	daemons map[string]*daemon // by name: munged, slurmctld, n0, …
}

//go:embed slurm.conf
var confText string

var conf = template.Must(template.New("slurm.conf").Parse(confText))

// Available returns an error if this host cannot run a cluster.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("a cluster of its own needs root, since Slurm's daemons do")
	}
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "munged"} {
		if _, err := lookPath(name); err != nil {
			return fmt.Errorf("%s is not installed: apt-get install slurm-wlm munge", name)
		}
	}
	if out, err := exec.Command("unshare", nodeFlags("true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("no PID namespaces here: unshare: %w: %s", err, out)
	}
	return nil
}

// Start starts a cluster and waits until all its nodes are idle.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	c := &Cluster{config: config, daemons: map[string]*daemon{}}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, fmt.Errorf("cluster: %w (logs are in %s)", err, c.path("log"))
	}
	return c, nil
}

// Conf returns the path of slurm.conf: the value of SLURM_CONF for the commands that talk to the cluster.
func (c *Cluster) Conf() string { return c.path("slurm.conf") }

// Nodes returns the names of the nodes.
func (c *Cluster) Nodes() []string {
	names := make([]string, c.config.Nodes)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	return names
}

// PID returns the process whose death is that of the node, or of the daemon.
func (c *Cluster) PID(name string) int { return c.daemons[name].command.Process.Pid }

// KillNode ends a node and all that runs on it, as a power cut would.
func (c *Cluster) KillNode(name string) error {
	d := c.daemons[name]
	if d == nil {
		return fmt.Errorf("cluster: no node %q", name)
	}
	d.kill()
	return nil
}

// KillNodeWhen kills a node as soon as a condition holds, and then sends the error, if there is one.
func (c *Cluster) KillNodeWhen(ctx context.Context, name string, when func() bool) <-chan error {
	done := make(chan error, 1)
	go func() {
		if err := await(ctx, when); err != nil {
			done <- err
			return
		}
		done <- c.KillNode(name)
	}()
	return done
}

// StartNode starts a node that was killed.
func (c *Cluster) StartNode(name string) error {
	slurmd, err := lookPath("slurmd")
	if err != nil {
		return err
	}
	return c.launch(name, "unshare", nodeFlags(slurmd, "-D", "-N", name, "-f", c.Conf())...)
}

// Stop ends all daemons and all that runs on the nodes.
func (c *Cluster) Stop() {
	for _, d := range c.daemons {
		d.kill()
	}
}

// Idle waits until all nodes are up and idle: no job runs, and cancelled jobs have ended.
func (c *Cluster) Idle(ctx context.Context) error {
	for {
		out, err := c.Command(ctx, "sinfo", "-h", "-N", "-o", "%T").CombinedOutput()
		states := strings.Fields(string(out))
		idle := err == nil && len(states) == c.config.Nodes
		for _, s := range states {
			idle = idle && s == "idle"
		}
		if idle {
			return nil
		}
		for name, d := range c.daemons {
			if d.ended() {
				return fmt.Errorf("%s has ended", name)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the nodes are not idle: %s: %w", out, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Command is exec.CommandContext with the environment of the cluster.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	return command
}

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.config.Dir}, elements...)...)
}

// prepare makes the directories, the key and the configuration.
func (c *Cluster) prepare() error {
	dir, err := filepath.Abs(c.config.Dir)
	if err != nil {
		return err
	}
	c.config.Dir = dir
	for _, sub := range []string{"munge", "state", "spool", "log"} {
		if err := os.MkdirAll(c.path(sub), 0o755); err != nil {
			return err
		}
	}
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("munge", "key"), key, 0o600); err != nil {
		return err
	}
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	port, err := freePorts(c.config.Nodes + 1)
	if err != nil {
		return err
	}
	file, err := os.Create(c.Conf())
	if err != nil {
		return err
	}
	err = conf.Execute(file, map[string]any{
		"Hostname": hostname, "Dir": dir, "CPUs": c.config.CPUs, "NodeTimeout": int(c.config.NodeTimeout.Seconds()),
		"Port": port, "PortRange": numbers(port+1, c.config.Nodes), "NodeRange": "n[" + numbers(0, c.config.Nodes) + "]",
	})
	return errors.Join(err, file.Close())
}

func numbers(first, n int) string { return fmt.Sprintf("%d-%d", first, first+n-1) }

// freePorts returns the first of n neighbouring ports that nobody uses now.
func freePorts(n int) (int, error) {
	for first := 27100; first < 32000; first += n {
		free := true
		for port := first; port < first+n && free; port++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if free = err == nil; free {
				l.Close()
			}
		}
		if free {
			return first, nil
		}
	}
	return 0, errors.New("no free ports between 27100 and 32000")
}

func (c *Cluster) start(ctx context.Context) error {
	socket := c.path("munge", "socket")
	err := c.launch("munged", "munged", "--foreground", "--force", "--socket="+socket, "--key-file="+c.path("munge", "key"),
		"--log-file="+c.path("munge", "log"), "--pid-file="+c.path("munge", "pid"), "--seed-file="+c.path("munge", "seed"))
	if err != nil {
		return err
	}
	if err := await(ctx, func() bool { _, err := os.Stat(socket); return err == nil }); err != nil {
		return fmt.Errorf("munged does not come up: %w", err)
	}
	if err := c.launch("slurmctld", "slurmctld", "-D", "-f", c.Conf()); err != nil {
		return err
	}
	for _, name := range c.Nodes() {
		if err := c.StartNode(name); err != nil {
			return err
		}
	}
	return c.Idle(ctx)
}

// await waits for a condition, for a while.
func await(ctx context.Context, when func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for !when() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
