package cluster

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// daemon is a process that this one started.
type daemon struct {
	command *exec.Cmd
	done    chan struct{} // closed when it has ended
}

// nodeFlags makes the arguments of unshare that run a command as the first process of its own PID namespace: when it is
// killed, or unshare is, the kernel kills all that is in the namespace.
func nodeFlags(command ...string) []string {
	return append([]string{"--pid", "--fork", "--kill-child", "--mount-proc"}, command...)
}

// lookPath also looks where Debian puts daemons, which is not on the path of every root.
func lookPath(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

// launch starts a daemon with its own log file.
func (c *Cluster) launch(name, program string, args ...string) error {
	path, err := lookPath(program)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.path("log", name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(path, args...)
	command.Dir = c.path() // the caller's own may go before the daemon does
	command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	command.Stdout, command.Stderr = log, log
	// The kernel ends the daemon with this process, however this one ends.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := startLasting(command); err != nil {
		return err
	}
	d := &daemon{command: command, done: make(chan struct{})}
	go func() {
		_ = command.Wait() // a daemon that was killed ends with an error
		close(d.done)
	}()
	c.daemons[name] = d
	return nil
}

var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread() // a death signal comes with the end of the thread that started the process
		for f := range work {
			f()
		}
	}()
	return work
})

// startLasting starts a command on a thread that lasts as long as this process.
func startLasting(command *exec.Cmd) error {
	result := make(chan error)
	launcher() <- func() { result <- command.Start() }
	return <-result
}

func (d *daemon) kill() {
	if err := d.command.Process.Kill(); err == nil || errors.Is(err, os.ErrProcessDone) {
		<-d.done
	}
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}
