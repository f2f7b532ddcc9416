package array

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// commandTimeout bounds every command. sbatch by itself retries for some minutes while slurmctld is away.
const commandTimeout = 5 * time.Minute

// Commands is Slurm by its commands: sbatch, squeue, scancel, scontrol, sinfo.
type Commands struct {
	// Env is the commands' environment; nil is this process's own.
	Env []string
}

// Submit runs sbatch. Nothing interrupts it: a job could be queued whose number nobody knows.
func (c Commands) Submit(ctx context.Context, options []string, script string, args []string) (string, error) {
	args = slices.Concat([]string{"--parsable"}, options, []string{script}, args)
	ctx = context.WithoutCancel(ctx)
	out, err := c.run(ctx, "sbatch", args...)
	if err != nil {
		return "", c.indices(ctx, err)
	}
	id, cluster, elsewhere := strings.Cut(strings.TrimSpace(out), ";") // "71" or "71;cluster"
	if elsewhere {                                                     // where the same number is another job here
		_, err := c.run(ctx, "scancel", "--quiet", "--clusters="+cluster, id)
		return "", errors.Join(fmt.Errorf("job %s went to cluster %s, want this host's: it is cancelled", id, cluster), err)
	}
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch printed %q, want the number of a job", out)
	}
	return id, nil
}

// refusedArray is what sbatch says of indices that cannot be, and maxArraySize what scontrol shows.
const refusedArray = "Invalid job array specification"

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([1-9][0-9]*)`)

// indices says which indices a cluster takes, if sbatch has refused an array for its own.
func (c Commands) indices(ctx context.Context, err error) error {
	if !strings.Contains(err.Error(), refusedArray) {
		return err
	}
	out, askErr := c.run(ctx, "scontrol", "show", "config")
	found := maxArraySize.FindStringSubmatch(out)
	if askErr != nil || found == nil {
		return err
	}
	return fmt.Errorf("the indices of an array must be below %s on this cluster (MaxArraySize): "+
		"split the array into several runs whose scripts add an offset to the index, or have each task do more; %w", found[1], err)
}

// What stands between squeue's fields and at the end of each job. Paths and names may hold any printable character.
const (
	fieldEnd = "\x1f"
	jobEnd   = "\x1e"
)

// Find runs squeue: only for what waits or runs, since what was refused is there too for a while, as failed.
func (c Commands) Find(ctx context.Context, dir string) (map[string]string, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--me", "--Format=ArrayJobID:"+fieldEnd+",Command:"+jobEnd)
	if err != nil {
		return nil, err
	}
	return parseScripts(out, dir), nil
}

// jobFields are those that parseJobs reads, as squeue --Format calls them.
var jobFields = []string{
	"JobArrayID", "State", "NodeList", "exit_code", "StartTime", "STDOUT", "STDERR", "WorkDir", "JobID", "Name",
}

var jobFormat = strings.Join(jobFields, ":"+fieldEnd+",") + ":" + jobEnd

// Jobs runs squeue once.
func (c Commands) Jobs(ctx context.Context, arrays []string) ([]Job, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	// Not with --array, which in Slurm 22.05 leaves out the last of the waiting tasks of an array such as 2-32:2.
	out, err := c.run(ctx, "squeue", "--noheader", "--states=all", "--me", "--jobs="+strings.Join(arrays, ","),
		"--Format="+jobFormat)
	if err != nil {
		if strings.Contains(err.Error(), "Invalid job id specified") { // so it answers if all of them are forgotten
			return nil, nil
		}
		return nil, err
	}
	return parseJobs(out)
}

// maxIDs keeps command lines far below what the kernel takes.
const maxIDs = 5000

// Cancel runs scancel, once unless there are very many.
func (c Commands) Cancel(ctx context.Context, ids []string) error {
	var errs []error
	for some := range slices.Chunk(ids, maxIDs) {
		_, err := c.run(ctx, "scancel", append([]string{"--quiet"}, some...)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Describe runs scontrol show job.
func (c Commands) Describe(ctx context.Context, array string) (Facts, error) {
	out, err := c.run(ctx, "scontrol", "show", "job", "--oneliner", array)
	if err != nil {
		return Facts{}, err
	}
	return parseFacts(out)
}

var (
	partitionField = regexp.MustCompile(` Partition=(\S+)`)
	cpusField      = regexp.MustCompile(` NumCPUs=(\d+)`)
	excludeField   = regexp.MustCompile(` ExcNodeList=(\S+)`)
	throttleField  = regexp.MustCompile(` ArrayTaskThrottle=(\d+)`)
)

// Nodes runs sinfo once.
func (c Commands) Nodes(ctx context.Context, partition string) ([]Node, error) {
	out, err := c.run(ctx, "sinfo", "--noheader", "--Node", "--partition="+partition, "--format=%N|%T|%C")
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

// unusable are the states of nodes that take no new jobs. Of the marks, * stands for no answer, $ for maintenance, @ and ^
// for a reboot, ! and % for power that is being switched off.
var unusable = regexp.MustCompile(`^(down|drain|fail|future|maint|unknown|inval|reboot|power(ing|ed)_down)|[*$@^!%]$`)

// unwanted are variables by which users set what the commands show, and that would have sbatch wait.
var unwanted = regexp.MustCompile(`^(SQUEUE_|SINFO_|SCANCEL_|SBATCH_WAIT=)`)

// run runs a command and returns what it prints. The error shows the command and what it complained of.
func (c Commands) run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	command.Env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return unwanted.MatchString(v) })
	if name == "squeue" {
		command.Env = append(command.Env, "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0") // seconds since 1970, whole lists
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = 10 * time.Second                      // a site's own sbatch may leave something running that holds the pipe
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C shall not end an sbatch halfway
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
