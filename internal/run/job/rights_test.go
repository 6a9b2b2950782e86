// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestAControllerWithoutTheRightsForJobsSaysSo(t *testing.T) {
	s := start(t)
	s.api.setUnreadable(apierrors.NewForbidden(batchv1.Resource("jobs"), "", errors.New("User \"pulumi-controller\" cannot list")))
	defer s.running()()
	waiting := func() string { return s.Report(ref("1")).Progress.Waiting }
	s.Eventually(waiting).Should(And(HavePrefix("the controller may not list the objects of runs: add the component config/runner-jobs"),
		HaveSuffix("cannot list")))
	s.api.setUnreadable(nil)
	s.Eventually(waiting).Should(Equal("Job pulumi-run-1 waits for its pod"), "it is made once the rights are there")
}

func TestAnAPIServerThatIsAwayDeniesNoRights(t *testing.T) {
	s := start(t)
	s.api.setUnreadable(errors.New("connection refused"))
	s.Expect(s.mayList(t.Context())).To(Succeed())
}
