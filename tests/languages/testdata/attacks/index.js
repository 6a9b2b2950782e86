"use strict";

const child = require("child_process");
const fs = require("fs");
const { RESULTS, TOKEN, PID, VICTIM, DATA, LATE } = process.env;

const tried = (name, attempt) => {
    let result = "done";
    try {
        attempt();
    } catch (error) {
        result = "failed: " + error.message;
    }
    fs.appendFileSync(RESULTS + "/results", name + ": " + result + "\n");
};

tried("own file", () => fs.writeFileSync("own", "own"));
tried("own move", () => { fs.mkdirSync("sub"); fs.renameSync("own", "sub/own"); });
tried("token", () => fs.readFileSync(TOKEN));
tried("environment", () => fs.readFileSync("/proc/" + PID + "/environ"));
tried("root", () => fs.readFileSync("/proc/" + PID + "/root" + TOKEN));
tried("attach", () => fs.closeSync(fs.openSync("/proc/" + PID + "/mem", "r")));
tried("read a run", () => fs.readFileSync(VICTIM + "/secret"));
tried("list a run", () => fs.readdirSync(VICTIM));
tried("symbolic link", () => { fs.symlinkSync(VICTIM + "/secret", "link"); fs.readFileSync("link"); });
tried("hard link", () => { fs.linkSync(VICTIM + "/secret", "hard"); fs.readFileSync("hard"); });
tried("write a run", () => fs.appendFileSync(VICTIM + "/secret", "!"));
tried("create in a run", () => fs.writeFileSync(VICTIM + "/created", ""));
tried("move in", () => fs.renameSync("sub/own", VICTIM + "/moved"));
tried("move out", () => fs.renameSync(VICTIM + "/secret", "taken"));
tried("data", () => fs.writeFileSync(DATA, ""));
tried("background", () => child.spawn("/bin/sh", ["-c", LATE, "late", RESULTS, TOKEN], { detached: true, stdio: "ignore", env: {} }).unref());
