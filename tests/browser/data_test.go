// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"strings"
	"time"
)

// platform is what a small platform team looks after.
func platform() []object {
	const main, apps = "GitRepository/platform/infrastructure", "OCIRepository/apps/programs"
	return []object{
		row("platform", "network", "ready", main, "Applied revision main@sha1:5b0c2f7d: 3 created, 1 updated", nil),
		row("platform", "cluster", "waitsForApproval", main, "Plan sha256:9d1e4c72 waits for approval: 1 to replace, 2 to update", []string{"platform/network"}),
		row("platform", "dns", "ready", main, "Applied revision main@sha1:5b0c2f7d: nothing changed", []string{"platform/network"}),
		row("platform", "registry", "drifted", main, "Applied revision main@sha1:5b0c2f7d: nothing changed", nil),
		row("data", "postgres", "running", main, "Running update for 42s: 4 created, 2 in progress", []string{"platform/network", "platform/cluster"}),
		row("data", "queue", "failed", apps, "Update failed: aws:sqs/queue:Queue jobs: creating SQS Queue: AccessDenied: not authorized to perform sqs:CreateQueue. Retry in 4m", []string{"platform/network"}),
		row("data", "warehouse", "suspended", apps, "Applied revision v1.8.0: nothing changed", nil),
		row("apps", "shop", "ready", apps, "Applied revision v2.14.1: 2 updated", []string{"data/postgres", "data/queue"}),
		row("apps", "search", "ready", apps, "Applied revision v2.14.1: nothing changed", []string{"data/postgres"}),
		row("apps", "mail", "unknown", apps, "Waiting for data/queue to be ready", []string{"data/queue"}),
	}
}

func row(namespace, name, state, source, message string, dependsOn []string) object {
	r := object{"namespace": namespace, "name": name, "source": source, "revision": "main@sha1:5b0c2f7d91a2bb7e40915f3ce0d9cc1f4c1ad9b0", "message": message,
		"ready": "True", "reason": "ReconciliationSucceeded", "lastRun": before(time.Duration(len(name)) * 7 * time.Minute), "dependsOn": dependsOn, "needs": strings.Join(dependsOn, " "), "state": state}
	switch state {
	case "failed":
		r["ready"], r["reason"] = "False", "UpdateFailed"
	case "running", "unknown", "waitsForApproval":
		r["ready"] = "Unknown"
	}
	if state != "ready" && state != "unknown" {
		r[state] = true
	}
	return r
}

// many are as many Stacks as the page must show at once.
func many(n int) []object {
	states := []string{"ready", "ready", "ready", "ready", "ready", "ready", "failed", "running", "drifted", "suspended"}
	rows := make([]object, n)
	for i := range rows {
		rows[i] = row(fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("stack-%04d", i), states[i%len(states)], "GitRepository/flux-system/infrastructure", "Applied revision main@sha1:5b0c2f7d: nothing changed", nil)
	}
	return rows
}

// grid lays rows out as a graph, far simpler than the server does.
func grid(rows []object) object {
	level, column := map[string]int{}, map[int]int{}
	var nodes, edges []object
	place := map[string][2]int{}
	width, height := 0, 0
	for _, r := range rows {
		key := fmt.Sprintf("%s/%s", r["namespace"], r["name"])
		for _, on := range r["dependsOn"].([]string) {
			level[key] = max(level[key], level[on]+1)
		}
		x, y := level[key]*280, column[level[key]]*80
		column[level[key]]++
		place[key] = [2]int{x, y}
		width, height = max(width, x+200), max(height, y+52)
		nodes = append(nodes, object{"id": "Stack/" + key, "stack": key, "kind": "Stack", "label": key, "x": x, "y": y, "w": 200, "h": 52})
	}
	for _, r := range rows {
		key := fmt.Sprintf("%s/%s", r["namespace"], r["name"])
		for _, on := range r["dependsOn"].([]string) {
			edges = append(edges, object{"from": "Stack/" + on, "to": "Stack/" + key, "kind": "dependsOn", "points": []object{
				{"x": place[on][0] + 200, "y": place[on][1] + 26}, {"x": place[key][0], "y": place[key][1] + 26}}})
		}
	}
	return object{"nodes": nodes, "edges": edges, "width": width, "height": height}
}

const digest = "sha256:9d1e4c72a0b37f5516b2a3f4ddc0e7bd3d3f2c8b5f9a41f0c6e1d2a7b8c94e05"

// cluster is the detail of a Stack that waits for approval, with a run before it.
func cluster(stack object) object {
	return object{
		"stack": stack, "next": "Nothing until the plan is approved or rejected. The source is checked again in 4m12s.",
		"conditions": []object{
			{"type": "Ready", "status": "Unknown", "reason": "WaitingForApproval", "message": "Plan " + digest + " waits for approval: 1 to replace, 2 to update", "since": before(12 * time.Minute)},
			{"type": "Reconciling", "status": "True", "reason": "WaitingForApproval", "message": "waiting for approval", "since": before(12 * time.Minute)},
			{"type": "Drifted", "status": "False", "reason": "NoDrift", "message": "no resource was changed outside of Pulumi", "since": before(3 * time.Hour)},
			{"type": "Compliant", "status": "True", "reason": "NoViolations", "message": "2 policies of 1 PolicySet are fulfilled", "since": before(26 * time.Hour)},
		},
		"checks": []object{
			{"about": "suspended", "found": "no", "says": "continue"}, {"about": "dependencies", "found": "platform/network is ready", "says": "continue"},
			{"about": "approval", "found": "the plan is proposed, and nobody has decided", "says": "wait WaitingForApproval", "decides": true}},
		"values":   []object{{"kind": "config", "name": "aws:region", "value": "eu-central-1", "from": "spec.config"}, {"kind": "config", "name": "cluster:token", "value": "[secret]", "from": "Secret cluster-token"}},
		"proposal": object{"digest": digest, "proposedAt": before(12 * time.Minute), "run": "0190f3", "revision": stack["revision"], "message": "1 to replace, 2 to update"},
		"spec":     []object{{"name": "Source", "value": stack["source"]}, {"name": "Path", "value": "./cluster"}, {"name": "Backend", "value": "s3://pulumi-state"}, {"name": "Pulumi stack", "value": "acme/cluster/production"}, {"name": "Approval", "value": "required for every update"}, {"name": "Interval", "value": "10m"}},
		"outputs":  object{"secret": "cluster-outputs", "items": []object{{"name": "endpoint", "value": "https://k8s.example.com"}, {"name": "kubeconfig", "secret": true}, {"name": "nodes", "value": "6"}}},
		"history": []object{
			{"id": "0190f2", "operation": "update", "state": "Succeeded", "endedAt": before(26 * time.Hour), "revision": "main@sha1:91a2bb7e40915f3ce0d9cc1f4c1ad9b05b0c2f7d", "approvedBy": "maria@example.com", "updated": 2, "message": "2 updated in 48s"},
			{"id": "0190f1", "operation": "update", "state": "Failed", "endedAt": before(27 * time.Hour), "revision": "main@sha1:91a2bb7e40915f3ce0d9cc1f4c1ad9b05b0c2f7d", "message": "aws:eks/nodeGroup:NodeGroup workers: timeout while waiting for state", "created": 1}},
		"drift": object{"result": "No drift", "message": "No resource was changed outside of Pulumi.", "lastCheckedAt": before(3 * time.Hour)},
		"may":   object{"approve": true, "reject": true, "reconcile": true, "preview": true, "suspend": true},
	}
}

// postgres is the detail of a Stack with a run in flight.
func postgres(stack object, done int) object {
	names := []string{"vpc-peering", "subnets", "parameter-group", "password", "primary", "replica", "backup-plan"}
	types := []string{"aws:ec2/vpcPeeringConnection:VpcPeeringConnection", "aws:rds/subnetGroup:SubnetGroup", "aws:rds/parameterGroup:ParameterGroup", "random:index/randomPassword:RandomPassword", "aws:rds/instance:Instance", "aws:rds/instance:Instance", "aws:backup/plan:Plan"}
	var steps []object
	for i, name := range names[:min(done+2, len(names))] {
		step := object{"op": "create", "name": name, "type": types[i], "state": "done", "seconds": 3 + i*2}
		if i >= done {
			step["state"] = "running"
		}
		steps = append(steps, step)
	}
	return object{"stack": stack, "next": "The run continues. After it, the outputs are written to the Secret postgres-outputs.",
		"run":        object{"id": "0190f9", "operation": "update", "startedAt": before(42 * time.Second), "message": fmt.Sprintf("%d created, 2 in progress", done), "revision": stack["revision"], "done": done, "total": len(names), "steps": steps},
		"conditions": []object{{"type": "Ready", "status": "Unknown", "reason": "Progressing", "message": "Running update: 4 created, 2 in progress", "since": before(42 * time.Second)}, {"type": "Reconciling", "status": "True", "reason": "Progressing", "message": "Running update: 4 created, 2 in progress", "since": before(42 * time.Second)}},
		"may":        object{"cancel": true, "suspend": true}}
}

// replacement is the plan that the cluster waits with.
func replacement() object {
	urn := func(t, name string) string { return "urn:pulumi:production::cluster::" + t + "::" + name }
	return object{"digest": digest, "proposedAt": before(12 * time.Minute), "revision": "main@sha1:5b0c2f7d91a2bb7e40915f3ce0d9cc1f4c1ad9b0", "plan": object{
		"counts": object{"create": 1, "update": 2, "replace": 1},
		"steps": []object{
			{"op": "update", "urn": urn("aws:eks/cluster:Cluster", "production"), "type": "aws:eks/cluster:Cluster", "properties": []object{{"path": "version", "kind": "update", "old": "1.31", "new": "1.32"}, {"path": "tags.revision", "kind": "add", "new": "5b0c2f7d"}}},
			{"op": "replace", "urn": urn("aws:eks/nodeGroup:NodeGroup", "workers"), "type": "aws:eks/nodeGroup:NodeGroup", "deleteFirst": true, "properties": []object{{"path": "instanceTypes[0]", "kind": "update", "old": "m6i.large", "new": "m7i.xlarge", "replaces": true}, {"path": "scalingConfig.maxSize", "kind": "update", "old": 6, "new": 9}, {"path": "userData", "kind": "update", "old": "[secret]", "new": "[secret]", "secret": true}}},
			{"op": "update", "urn": urn("aws:ssm/parameter:Parameter", "endpoint"), "type": "aws:ssm/parameter:Parameter", "properties": []object{{"path": "value", "kind": "update", "old": "https://k8s-a.example.com", "new": "[unknown]"}}},
			{"op": "create", "urn": urn("aws:cloudwatch/logGroup:LogGroup", "audit"), "type": "aws:cloudwatch/logGroup:LogGroup"},
		},
		"outputs":  []object{{"name": "nodes", "old": 6, "new": 9}},
		"policies": []object{{"pack": "acme-baseline", "version": "1.4.0", "name": "log-groups-have-a-retention", "level": "advisory", "urn": urn("aws:cloudwatch/logGroup:LogGroup", "audit"), "message": "Set retentionInDays: without it, the log group keeps everything."}},
	}}
}

// tree are the resources of a Stack, as `flux pulumi tree -o json` prints them, and as a graph.
func tree() object {
	leaf := func(text, id string) object { return object{"resource": text, "urn": text, "id": id} }
	return object{"tree": object{"resource": "Stack/platform/cluster", "resources": []object{
		{"resource": "pulumi:pulumi:Stack cluster-production", "urn": "stack", "resources": []object{
			{"resource": "acme:index:Cluster production", "urn": "component", "resources": []object{leaf("aws:eks/cluster:Cluster production", "production-4f1c"), leaf("aws:eks/nodeGroup:NodeGroup workers", "production-4f1c:workers")}},
			{"resource": "aws:ssm/parameter:Parameter endpoint", "urn": "p", "id": "/cluster/endpoint", "protect": true},
			leaf("pulumi:providers:aws default_7_12_0", "3f2c")}}}},
		"graph": object{"width": 520, "height": 160, "nodes": []object{
			{"id": "a", "kind": "aws:eks/cluster:Cluster", "label": "production", "x": 0, "y": 20, "w": 210, "h": 52}, {"id": "b", "kind": "aws:eks/nodeGroup:NodeGroup", "label": "workers", "x": 290, "y": 0, "w": 210, "h": 52}, {"id": "c", "kind": "aws:ssm/parameter:Parameter", "label": "endpoint", "x": 290, "y": 90, "w": 210, "h": 52}},
			"edges": []object{{"from": "a", "to": "b", "kind": "dependsOn", "points": []object{{"x": 210, "y": 46}, {"x": 290, "y": 26}}}, {"from": "a", "to": "c", "kind": "dependsOn", "points": []object{{"x": 210, "y": 46}, {"x": 290, "y": 116}}}}}}
}
