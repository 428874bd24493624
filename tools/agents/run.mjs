// Runs real agents and clients through `compactctl run` against a model server
// that judges requests as the providers do, and prints a row for each.
//
//   node run.mjs [--steps 60] [--client-steps 300] [--built] [NAME...]
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'

const here = import.meta.dirname
const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true, options: { steps: { type: 'string', default: '60' }, 'client-steps': { type: 'string', default: '300' }, keep: { type: 'boolean' }, built: { type: 'boolean' } },
})

const ask = 'Go through the steps.'
const agents = {
  'claude-code': { provider: 'anthropic', args: ['claude', '-p', ask, '--allowedTools', 'Bash'] },
  codex: { provider: 'openai', args: ['codex', 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ask] },
  'gemini-cli': { provider: 'gemini', args: ['gemini', '-p', ask, '--yolo', '--skip-trust', '-m', 'gemini-2.5-pro'] },
  opencode: { provider: 'anthropic', args: ['opencode', 'run', '-m', 'anthropic/claude-sonnet-4-5', ask] },
  pi: { provider: 'anthropic', args: ['pi', '--provider', 'anthropic', '--model', 'claude-sonnet-4-5', '-p', ask] },
}
const both = (all) => all.flatMap((c) => [c, c + '-stream'])
const clients = both(['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'agents', 'ai'])
const python = both(['py-openai-chat', 'py-openai-responses', 'py-anthropic', 'py-gemini', 'py-agents'])
const interpreter = process.env.PYTHON ?? '' // that finds the SDKs of requirements.txt; '' = the rows in Python are for those who name them

// env is what every agent is started with: keys that open nothing, and no calls
// to anybody but the model.
const env = (home) => ({
  ...process.env, HOME: home, PATH: `${here}/node_modules/.bin:${process.env.PATH}`, XDG_CONFIG_HOME: `${home}/.config`, XDG_DATA_HOME: `${home}/.local/share`,
  XDG_CACHE_HOME: `${home}/.cache`, OPENAI_API_KEY: 'none', ANTHROPIC_API_KEY: 'none', GEMINI_API_KEY: 'none', CLAUDE_CODE_MAX_OUTPUT_TOKENS: '8000',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENAI_AGENTS_DISABLE_TRACING: '1',
  OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: '8000',
})

let port = 9200 + (process.pid % 500) * 20
async function run(name, { provider, args }, { steps, window, budget, lines }) {
  const base = join(homedir(), '.cache') // Gemini CLI reads nothing below a folder that all may write
  mkdirSync(base, { recursive: true })
  const dir = mkdtempSync(join(base, 'compact-agents-'))
  for (const d of ['home', 'work']) mkdirSync(join(dir, d))
  const at = `127.0.0.1:${port++}`
  const server = spawn(join(here, 'bin/modelserver'), ['--listen', at, '--steps', steps, '--window', window, '--lines', lines], { stdio: 'ignore' })
  try {
    await ready(at)
    const command = ['run', '--json', '--upstream', `${provider}=http://${at}`, '--max-context-tokens', budget, '--archive', join(dir, 'archive'), '--', ...args]
    const child = spawn(join(here, 'bin/compactctl'), command, { cwd: join(dir, 'work'), env: { ...env(join(dir, 'home')), PWD: join(dir, 'work') }, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (d) => (said += d))
    const code = await new Promise((done) => child.on('close', done))
    const stats = await (await fetch(`http://${at}/stats`)).json()
    return row(name, code, JSON.parse(said.slice(said.lastIndexOf('\n{\n') + 1)), stats, said)
  } finally {
    server.kill()
    if (!flags.keep) rmSync(dir, { recursive: true, force: true })
  }
}

async function ready(at) {
  for (let i = 0; i < 200; i++) {
    if (await fetch(`http://${at}/stats`).then((r) => r.ok, () => false)) return
    await new Promise((r) => setTimeout(r, 50))
  }
  throw new Error('no model server at ' + at)
}

let failed = false
function row(name, code, receipt, stats, said) {
  if (stats.refused) console.error(name, stats.refused)
  const refused = Object.entries(stats.status).reduce((n, [s, k]) => n + (s === '200' ? 0 : k), 0)
  const shares = stats.shares ?? []
  const changed = shares.filter((s) => s < 1)
  const aside = [...shares].sort((a, b) => a - b).slice(receipt.compactions) // compactions step aside
  const least = aside.length ? Math.min(...aside) : 1
  if (code !== 0 || refused > 0 || least < 0.95 || receipt.failures > 0) {
    failed = true
    console.error(`${name}: ended with ${code}\n${said.slice(-2000)}`)
  }
  const n = (x) => x.toLocaleString('en-US')
  return `| ${name} | ${stats.steps} | ${stats.requests} | ${receipt.compactions} | ${refused} | ${n(stats.largest)} | ${changed.length} | ${(100 * least).toFixed(0)} % | ${n(receipt.sent_tokens)} of ${n(receipt.history_tokens)} |`
}

for (const what of flags.built ? [] : ['./cmd/compactctl', './internal/provider/modelserver']) {
  const built = spawnSync('go', ['build', '-o', join(here, 'bin') + '/', what], { cwd: join(here, '../..'), stdio: 'inherit' })
  if (built.status !== 0) process.exit(1)
}
console.log('| program | tool calls | model calls | compactions | refused | largest prompt | prompts that did not begin as the one before | least of the others | tokens sent |\n|---|---|---|---|---|---|---|---|---|')
const wanted = (name) => (names.length === 0 ? interpreter !== '' || !name.startsWith('py-') : names.includes(name))
for (const [name, agent] of Object.entries(agents)) {
  if (wanted(name)) console.log(await run(name, agent, { steps: flags.steps, window: '75000', budget: '75000', lines: '400' }))
}
for (const name of [...clients, ...python]) {
  if (!wanted(name)) continue
  const provider = ['anthropic', 'gemini'].find((p) => name.includes(p)) ?? 'openai'
  const program = name.startsWith('py-') ? [interpreter.includes('/') ? resolve(interpreter) : interpreter || 'python3', join(here, 'client.py')] : ['node', join(here, 'client.mjs')]
  const args = [...program, name, String(+flags['client-steps'] + 1)]
  console.log(await run(name, { provider, args }, { steps: flags['client-steps'], window: '24000', budget: '20000', lines: '1' }))
}
process.exit(failed ? 1 : 0)
