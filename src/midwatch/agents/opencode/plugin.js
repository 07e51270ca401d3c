// Notes in Midwatch's spool what OpenCode does, in the lines of hook.sh. OpenCode loads this file as a plugin; nothing
// here makes it wait for the disk, and nothing throws. A session that another one started is its sub-agent. In a
// sandbox the spool cannot be written to; then its lines go to the drop box of the session.
import { accessSync, constants, readFileSync } from "node:fs"
import { appendFile, rename, stat } from "node:fs/promises"

const spool = "SPOOL"
const LARGEST = 1 << 20
const tmux = process.env.TMUX ?? ""
const pane = process.env.TMUX_PANE ?? ""
const server = tmux.split(",").slice(0, -2).join(",")
const may = (path, mode) => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
const box = process.env.MIDWATCH_DIR
const inBox = !may(spool, constants.W_OK) && box && may(`${box}/run`, constants.R_OK)
const file = inBox ? `${box}/opencode.events` : `${spool}/opencode${server.replaceAll("/", ",")}${pane}.events`
const parents = new Map()
let written = Promise.resolve()

const from = (path) => {
  try {
    return readFileSync(path, "utf8").split(/\s/)[0]
  } catch {
    return ""
  }
}
const boot = from("/proc/sys/kernel/random/boot_id")
const short = (value) => (typeof value === "string" ? value.slice(0, 300) : undefined)

const note = (directory, name, session, fields = {}) => {
  let root = session
  while (parents.has(root)) root = parents.get(root)
  const payload = {
    hook_event_name: name,
    session_id: root,
    agent_id: root === session ? undefined : session,
    cwd: directory,
    ...fields,
  }
  const start = ["1", "opencode", pane, tmux, process.pid, boot, from("/proc/uptime"), ""]
  const line = `\n${start.join("\t")}\t${JSON.stringify(payload)}\n`
  const add = async () => {
    const size = await stat(file).then((found) => (found.isFile() ? found.size : Infinity), () => 0)
    if (size === Infinity) return
    if (size + line.length > LARGEST) await rename(file, `${file}.1`)
    await appendFile(file, line, { mode: 0o600 })
  }
  written = written.then(add).catch(() => {}) // one after the other, so that their order is kept
}

const told = {
  "session.status": ({ status }) => ({
    status: status.type,
    message: short(status.message),
    retry_attempt: status.attempt,
    retry_next: status.next && status.next / 1000,
  }),
  "session.idle": () => ({}),
  "session.error": ({ error }) => ({ error: short(error?.name), message: short(error?.data?.message) }),
  "permission.asked": ({ id, permission }) => ({ tool_use_id: id, tool_name: short(permission) }),
  "permission.replied": ({ requestID, reply }) => ({ tool_use_id: requestID, reason: short(reply) }),
  "question.asked": ({ id }) => ({ tool_use_id: id, tool_name: "question" }),
  "question.replied": ({ requestID }) => ({ tool_use_id: requestID }),
  "question.rejected": ({ requestID }) => ({ tool_use_id: requestID, reason: "rejected" }),
}

export const Midwatch = async ({ directory }) => {
  const safely = (what) => async (...given) => {
    try {
      what(...given)
    } catch {}
  }
  return {
    event: safely(({ event: { type, properties } }) => {
      const { id, parentID } = (type === "session.created" && properties.info) || {}
      if (parentID) parents.set(id, parentID)
      if (type in told) note(directory, type, properties.sessionID, told[type](properties))
    }),
    "tool.execute.before": safely(({ tool, sessionID, callID }) =>
      note(directory, "tool.execute.before", sessionID, { tool_name: short(tool), tool_use_id: callID })),
    "tool.execute.after": safely(({ tool, sessionID, callID }) =>
      note(directory, "tool.execute.after", sessionID, { tool_name: short(tool), tool_use_id: callID })),
  }
}
