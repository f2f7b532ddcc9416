package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
)

func per[T any](v T) *T { return &v }

// whole is one conformance case: a Job, the behaviour of its pods, the number of seconds that the Job may take, and
// the checks at its end.
type whole struct {
	job   *batchv1.Job
	world func(*toy)
	steps int
	end   batchv1.JobConditionType // last condition of the Job; "": the Job goes on
	why   string                   // reason of this condition
	holds func(*testing.T, *toy, *batchv1.Job)
}

// failsOn lets the pods of some indexes fail with an exit code.
func failsOn(code int32, indexes ...int) func(*toy) {
	return func(y *toy) {
		y.exits = func(p *v1.Pod) int32 {
			for _, i := range indexes {
				if index(p) == i {
					return code
				}
			}
			return 0
		}
	}
}

// failsFirst lets the first n pods of each index fail.
func failsFirst(n int) func(*toy) {
	return func(y *toy) {
		y.exits = func(p *v1.Pod) int32 {
			before := 0
			for _, o := range y.made {
				if index(o) == index(p) && o.UID != p.UID && o.CreationTimestamp.Before(&p.CreationTimestamp) {
					before++
				}
			}
			if before < n {
				return 1
			}
			return 0
		}
	}
}

func failurePolicy(rules ...batchv1.PodFailurePolicyRule) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func onCode(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes}}
}

func success(rule batchv1.SuccessPolicyRule) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule}}
	}
}

// These are the cases of Kubernetes' own end-to-end tests of Jobs (test/e2e/apps/job.go), by their names, except cases
// of gangs and of the kubelet. Cases of NonIndexed Jobs have an Indexed Job here. One case is missing, "should adopt
// matching orphans and release non-matching pods", because here a pod belongs to the Job that made it.
var conformance = map[string]whole{
	"should run a job to completion when tasks succeed": {
		job: indexedJob(4, func(s *batchv1.JobSpec) { s.Parallelism = per(int32(2)) }),
		end: batchv1.JobComplete, why: "CompletionsReached",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) { assert.EqualValues(t, 4, job.Status.Succeeded) },
	},
	"should allow to use the pod failure policy on exit code to fail the job early": {
		job: indexedJob(2, failurePolicy(onCode(batchv1.PodFailurePolicyActionFailJob, 42))), world: failsOn(42, 1),
		end: batchv1.JobFailed, why: "PodFailurePolicy",
	},
	"should allow to use a pod failure policy to ignore failure matching on exit code": {
		job: indexedJob(2, failurePolicy(onCode(batchv1.PodFailurePolicyActionIgnore, 1)),
			func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(0)) }),
		world: failsFirst(1), end: batchv1.JobComplete,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) { assert.Zero(t, job.Status.Failed) },
	},
	"should allow to use a pod failure policy to ignore failure matching on DisruptionTarget condition": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(0)) },
			failurePolicy(ignoresDisruptions)),
		world: evictsOnce, end: batchv1.JobComplete,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Zero(t, job.Status.Failed)
			assert.Len(t, y.made, 3)
		},
	},
	"should not create pods when created in suspend state": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.Suspend = per(true) }), steps: 10,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Empty(t, y.made)
			assert.True(t, holds(&job.Status, batchv1.JobSuspended))
			assert.Nil(t, job.Status.StartTime)
			y.change(func(job *batchv1.Job) { job.Spec.Suspend = per(false) })
			assert.True(t, holds(&y.steps(100).Status, batchv1.JobComplete))
		},
	},
	"should delete pods when suspended": {
		job: indexedJob(4), steps: 5,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			require.EqualValues(t, 4, job.Status.Active)
			started := job.Status.StartTime
			y.change(func(job *batchv1.Job) { job.Spec.Suspend = per(true) })
			job = y.steps(5)
			assert.Empty(t, y.pods())
			assert.Zero(t, job.Status.Active)
			assert.Zero(t, job.Status.Failed)
			y.change(func(job *batchv1.Job) { job.Spec.Suspend = per(false) })
			job = y.steps(100)
			assert.True(t, holds(&job.Status, batchv1.JobComplete))
			assert.True(t, started.Before(job.Status.StartTime))
		},
	},
	"should recreate pods only after they have failed if pod replacement policy is set to Failed": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.PodReplacementPolicy = per(batchv1.Failed) }), steps: 3,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			pod := y.pods()[0]
			y.dead[pod.Spec.NodeName] = true // so that it does not end for a while
			require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), pod.Name, deleteNow))
			y.steps(5)
			assert.Len(t, y.made, 2, "one pod is still terminating")
			clear(y.dead)
			assert.True(t, holds(&y.steps(200).Status, batchv1.JobComplete))
			assert.Len(t, y.made, 3)
		},
	},
	"should create pods for an Indexed job with completion indexes and specified hostname": {
		job: indexedJob(3), end: batchv1.JobComplete,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Equal(t, "0-2", job.Status.CompletedIndexes)
			for _, p := range y.made {
				assert.Equal(t, "j-"+p.Annotations[indexAnnotation], p.Spec.Hostname)
				assert.Equal(t, p.Annotations[indexAnnotation], p.Labels[indexAnnotation])
				assert.Equal(t, "JOB_COMPLETION_INDEX", p.Spec.Containers[0].Env[0].Name)
				assert.True(t, strings.HasPrefix(p.Name, p.Spec.Hostname+"-"))
			}
		},
	},
	"with successPolicy should succeeded when all indexes succeeded": {
		job: indexedJob(2, success(batchv1.SuccessPolicyRule{SucceededCount: per(int32(2))})),
		end: batchv1.JobComplete, why: "SuccessPolicy",
	},
	"with successPolicy succeededIndexes rule should succeeded even when some indexes remain pending": {
		job: indexedJob(2, success(batchv1.SuccessPolicyRule{SucceededIndexes: per("0")})), world: hangs(1),
		end: batchv1.JobComplete, why: "SuccessPolicy",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Equal(t, "0", job.Status.CompletedIndexes)
			assert.Zero(t, job.Status.Failed)
		},
	},
	"with successPolicy succeededCount rule should succeeded even when some indexes remain pending": {
		job:   indexedJob(5, success(batchv1.SuccessPolicyRule{SucceededCount: per(int32(1)), SucceededIndexes: per("1-3")})),
		world: hangs(0, 2, 3, 4), end: batchv1.JobComplete, why: "SuccessPolicy",
	},
	"should execute all indexes despite some failing when using backoffLimitPerIndex": {
		job:   indexedJob(4, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex, s.BackoffLimit = per(int32(1)), nil }),
		world: failsOn(1, 0, 2), end: batchv1.JobFailed, why: "FailedIndexes",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Equal(t, "0,2", *job.Status.FailedIndexes)
			assert.Equal(t, "1,3", job.Status.CompletedIndexes)
			assert.EqualValues(t, 4, job.Status.Failed)
			assert.EqualValues(t, 2, job.Status.Succeeded)
		},
	},
	"should terminate job execution when the number of failed indexes exceeds maxFailedIndexes": {
		job: indexedJob(10, func(s *batchv1.JobSpec) {
			s.BackoffLimitPerIndex, s.MaxFailedIndexes, s.Parallelism = per(int32(0)), per(int32(1)), per(int32(3))
		}),
		world: failsOn(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), end: batchv1.JobFailed, why: "MaxFailedIndexesExceeded",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Equal(t, "0-2", *job.Status.FailedIndexes)
			assert.EqualValues(t, 3, job.Status.Failed)
		},
	},
	"should record the failure-count in the Pod annotation when using backoffLimitPerIndex": {
		job:   indexedJob(1, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex, s.BackoffLimit = per(int32(2)), nil }),
		world: failsFirst(2), end: batchv1.JobComplete,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			var counts []string
			for _, p := range y.made {
				counts = append(counts, p.Annotations[countAnnotation])
			}
			assert.Equal(t, []string{"0", "1", "2"}, counts)
		},
	},
	"should mark indexes as failed when the FailIndex action is matched in podFailurePolicy": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = per(int32(5)) },
			failurePolicy(onCode(batchv1.PodFailurePolicyActionFailIndex, 42))),
		world: failsOn(42, 0), end: batchv1.JobFailed, why: "FailedIndexes",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Equal(t, "0", *job.Status.FailedIndexes)
			assert.Equal(t, "1", job.Status.CompletedIndexes)
			assert.Len(t, y.made, 2)
		},
	},
	"should remove pods when job is deleted": {
		job: indexedJob(3), steps: 5,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			require.NoError(t, y.client.Tracker().Delete(batchv1.SchemeGroupVersion.WithResource("jobs"), "default", "j"))
			for _, p := range y.pods() { // as the garbage collector does
				require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), p.Name, deleteNow))
			}
			y.run()
			y.step()
			assert.Empty(t, y.pods())
		},
	},
	"should run a job to completion when tasks sometimes fail and are locally restarted": {
		job:   indexedJob(3, func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = v1.RestartPolicyOnFailure }),
		world: restartsTimes(3), end: batchv1.JobComplete,
	},
	"should run a job to completion when tasks sometimes fail and are not locally restarted": {
		job: indexedJob(4), world: failsFirst(1), end: batchv1.JobComplete,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) { assert.EqualValues(t, 4, job.Status.Failed) },
	},
	"should fail when exceeds active deadline": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = per(int64(5)) }), world: hangs(0, 1),
		end: batchv1.JobFailed, why: "DeadlineExceeded", steps: 15,
	},
	"should fail to exceed backoffLimit": {
		job:   indexedJob(1, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(1)) }),
		world: failsOn(1, 0), end: batchv1.JobFailed, why: "BackoffLimitExceeded",
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.EqualValues(t, 2, job.Status.Failed)
			assert.Len(t, y.made, 2)
		},
	},
	"should fail to exceed backoffLimit, by containers that are restarted on their node": {
		job:   indexedJob(2, func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = v1.RestartPolicyOnFailure }),
		world: restartsTimes(6), end: batchv1.JobFailed, why: "BackoffLimitExceeded",
	},
	"should update the status ready field": {
		job: indexedJob(2), steps: 3,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.EqualValues(t, 2, *job.Status.Ready)
			assert.Zero(t, *y.steps(100).Status.Ready)
		},
	},
	"should allow to delegate reconciliation to external controller": {
		job: indexedJob(2, func(s *batchv1.JobSpec) { s.ManagedBy = per("example.com/another") }), steps: 5,
		holds: func(t *testing.T, y *toy, job *batchv1.Job) {
			assert.Empty(t, y.made)
			assert.Equal(t, batchv1.JobStatus{}, job.Status)
		},
	},
}

func TestConformance(t *testing.T) {
	for name, w := range conformance {
		t.Run(name, func(t *testing.T) {
			y := newToy(t, w.job.DeepCopy())
			if w.world != nil {
				w.world(y)
			}
			job := y.steps(or(w.steps, 400))
			if w.end != "" {
				require.True(t, holds(&job.Status, w.end), "%+v", job.Status)
				oneWinner(t, y)
			}
			for _, c := range job.Status.Conditions {
				if c.Type == w.end && w.why != "" {
					assert.Equal(t, w.why, c.Reason)
				}
			}
			if w.holds != nil {
				w.holds(t, y, job)
			}
		})
	}
}
