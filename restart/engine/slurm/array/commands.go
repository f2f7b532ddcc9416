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

// commandTimeout is how long a command of Slurm may take before it is killed. If the controller slurmctld does not
// answer, sbatch itself tries again for some minutes.
const commandTimeout = 5 * time.Minute

// Commands implements [Slurm] by running Slurm's commands sbatch, squeue, scancel, scontrol and sinfo. The methods of
// Commands may be called from several goroutines at once.
type Commands struct {
	// Env contains the environment variables for the commands, each as "NAME=value". Nil means the environment of
	// this process.
	Env []string
}

// Submit runs sbatch and returns the job ID that sbatch prints. If ctx ends, sbatch runs on. If Submit ended sbatch,
// a job with an unknown ID could be left in the queue.
func (c Commands) Submit(ctx context.Context, options []string, script string, args []string) (string, error) {
	args = slices.Concat([]string{"--parsable"}, options, []string{script}, args)
	ctx = context.WithoutCancel(ctx)
	out, err := c.run(ctx, "sbatch", args...)
	if err != nil {
		return "", c.indices(ctx, err)
	}
	id, cluster, elsewhere := strings.Cut(strings.TrimSpace(out), ";") // "71" or "71;cluster"
	// The job went to another cluster. On this cluster the same ID may belong to another job.
	if elsewhere {
		_, err := c.run(ctx, "scancel", "--quiet", "--clusters="+cluster, id)
		return "", errors.Join(fmt.Errorf("job %s went to cluster %s, want this host's: it is cancelled", id, cluster), err)
	}
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch printed %q, want the number of a job", out)
	}
	return id, nil
}

// refusedArray is part of the message that sbatch prints if an index of an array is too large.
const refusedArray = "Invalid job array specification"

// maxArraySize finds MaxArraySize in the output of scontrol show config. The indices of an array must be below this
// number.
var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([1-9][0-9]*)`)

// indices improves an error of sbatch. If the error says that an index of the array is out of range, indices returns
// an error with the cluster's limit for indices. It returns any other error unchanged.
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

// In the output of squeue, control characters separate the fields and the jobs. A path or a name may contain any
// printable character, so no printable character can be a separator.
const (
	fieldEnd = "\x1f" // between two fields
	jobEnd   = "\x1e" // after each job
)

// Find runs squeue and lists only the user's waiting and running jobs. It leaves out ended jobs, because for a while
// squeue also lists a job that Slurm has refused, as a failed job.
func (c Commands) Find(ctx context.Context, dir string) (map[string]string, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--me", "--Format=ArrayJobID:"+fieldEnd+",Command:"+jobEnd)
	if err != nil {
		return nil, err
	}
	return parseScripts(out, dir), nil
}

// jobFields are the fields that squeue prints for each job and that parseJobs reads. The names are those of squeue's
// option --Format.
var jobFields = []string{
	"JobArrayID", "State", "NodeList", "exit_code", "StartTime", "STDOUT", "STDERR", "WorkDir", "JobID", "Name",
}

// jobFormat is the value of squeue's option --Format: the fields and the separators that squeue prints.
var jobFormat = strings.Join(jobFields, ":"+fieldEnd+",") + ":" + jobEnd

// Jobs runs squeue once and returns the jobs that squeue lists for the arrays, in any state.
func (c Commands) Jobs(ctx context.Context, arrays []string) ([]Job, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	// The option --array is not used. In Slurm 22.05 it leaves out the last waiting task of an array such as 2-32:2.
	out, err := c.run(ctx, "squeue", "--noheader", "--states=all", "--me", "--jobs="+strings.Join(arrays, ","),
		"--Format="+jobFormat)
	if err != nil {
		// the arrays ended long ago, and Slurm no longer lists them
		if strings.Contains(err.Error(), "Invalid job id specified") {
			return nil, nil
		}
		return nil, err
	}
	return parseJobs(out)
}

// maxIDs is the largest number of job IDs in one command line. The kernel's limit for the length of a command line is
// far higher.
const maxIDs = 5000

// Cancel runs scancel for the jobs with these IDs, with at most 5,000 IDs in one command.
func (c Commands) Cancel(ctx context.Context, ids []string) error {
	var errs []error
	for some := range slices.Chunk(ids, maxIDs) {
		_, err := c.run(ctx, "scancel", append([]string{"--quiet"}, some...)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Describe runs scontrol show job and returns the facts that it shows about the array.
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

// Nodes runs sinfo once and returns the nodes that sinfo lists for the partition.
func (c Commands) Nodes(ctx context.Context, partition string) ([]Node, error) {
	out, err := c.run(ctx, "sinfo", "--noheader", "--Node", "--partition="+partition, "--format=%N|%T|%C")
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

// unusable matches the state of a node, as sinfo shows it, if the node accepts no new jobs. A character at the end of
// a state is a flag. * means that the node does not answer, and $ means maintenance. @ and ^ mean a reboot. ! and %
// mean that the node is being switched off.
var unusable = regexp.MustCompile(`^(down|drain|fail|future|maint|unknown|inval|reboot|power(ing|ed)_down)|[*$@^!%]$`)

// unwanted matches the environment variables that the commands must not see: variables that change the output of the
// commands, and SBATCH_WAIT, which makes sbatch wait until the job has ended.
var unwanted = regexp.MustCompile(`^(SQUEUE_|SINFO_|SCANCEL_|SBATCH_WAIT=)`)

// run runs the command with this name and returns the command's standard output. If the command fails, the error
// contains the command line and the standard error.
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
		// squeue prints times in seconds since 1970, and lists of tasks in full
		command.Env = append(command.Env, "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0")
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	// a site may replace sbatch by a script; if the script leaves a process behind, that process keeps the pipe open
	command.WaitDelay = 10 * time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not interrupt sbatch
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
