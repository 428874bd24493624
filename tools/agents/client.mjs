// An agent of each SDK: it calls the model until that calls no tool any more.
// Nothing in it knows of compact; the base URLs come from the environment.
//
//   compactctl run --max-context-tokens 20000 -- node client.mjs openai-chat 60
import process from 'node:process'

const [which, most = '60'] = process.argv.slice(2)
const read = (n) => Array.from({ length: 120 }, (_, i) => `file ${n}, line ${i}: some words that stand in it`).join('\n')
const ask = 'Read the files, one after the other.'
const schema = { type: 'object', properties: { n: { type: 'integer' } } }
const key = process.env.AGENT_KEY ?? 'none'

async function openaiChat(stream) {
  const { default: OpenAI } = await import('openai')
  const client = new OpenAI({ apiKey: key })
  const messages = [{ role: 'system', content: 'You read files.' }, { role: 'user', content: ask }]
  const tools = [{ type: 'function', function: { name: 'read', parameters: schema } }]
  for (let calls = 0; ; ) {
    const body = { model: 'gpt-4o', messages, tools }
    const completion = stream
      ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
      : await client.chat.completions.create(body)
    const { message } = completion.choices[0]
    delete message.parsed // the helper's own fields, which the provider refuses
    for (const c of message.tool_calls ?? []) delete c.function.parsed_arguments
    messages.push(message)
    if (!message.tool_calls?.length || calls > most) return calls
    for (const c of message.tool_calls) {
      calls++
      messages.push({ role: 'tool', tool_call_id: c.id, content: read(JSON.parse(c.function.arguments).n) })
    }
  }
}

async function openaiResponses(stream) {
  const { default: OpenAI } = await import('openai')
  const client = new OpenAI({ apiKey: key })
  const input = [{ role: 'user', content: ask }]
  const tools = [{ type: 'function', name: 'read', parameters: schema, strict: false }]
  for (let calls = 0; ; ) {
    const body = { model: 'gpt-5', input, tools, store: false, include: ['reasoning.encrypted_content'] }
    const response = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
    for (const o of response.output) for (const part of [o, ...(o.content ?? [])]) delete part.parsed, delete part.parsed_arguments
    input.push(...response.output)
    const asked = response.output.filter((o) => o.type === 'function_call')
    if (!asked.length || calls > most) return calls
    for (const c of asked) {
      calls++
      input.push({ type: 'function_call_output', call_id: c.call_id, output: read(JSON.parse(c.arguments).n) })
    }
  }
}

async function anthropic(stream) {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  const client = new Anthropic({ apiKey: key })
  const messages = [{ role: 'user', content: ask }]
  const tools = [{ name: 'read', input_schema: schema }]
  for (let calls = 0; ; ) {
    const body = { model: 'claude-sonnet-4-5', max_tokens: 1000, system: 'You read files.', messages, tools }
    const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
    messages.push({ role: 'assistant', content: message.content })
    const asked = message.content.filter((b) => b.type === 'tool_use')
    if (!asked.length || calls > most) return calls
    messages.push({ role: 'user', content: asked.map((c) => (calls++, { type: 'tool_result', tool_use_id: c.id, content: read(c.input.n) })) })
  }
}

async function gemini(stream) {
  const { GoogleGenAI } = await import('@google/genai')
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: process.env.GOOGLE_GEMINI_BASE_URL } })
  const contents = [{ role: 'user', parts: [{ text: ask }] }]
  const config = { tools: [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] }] }
  for (let calls = 0; ; ) {
    const body = { model: 'gemini-2.5-pro', contents, config }
    let parts = []
    if (stream) for await (const piece of await client.models.generateContentStream(body)) parts.push(...(piece.candidates?.[0]?.content?.parts ?? []))
    else parts = (await client.models.generateContent(body)).candidates[0].content.parts
    contents.push({ role: 'model', parts })
    const asked = parts.filter((p) => p.functionCall)
    if (!asked.length || calls > most) return calls
    contents.push({ role: 'user', parts: asked.map((p) => (calls++, { functionResponse: { id: p.functionCall.id, name: 'read', response: { output: read(p.functionCall.args.n) } } })) })
  }
}

// The loop is the SDK's own.
async function openaiAgents(stream) {
  const { Agent, tool, OpenAIProvider, Runner } = await import('@openai/agents')
  const { z } = await import('zod')
  let calls = 0
  const files = tool({ name: 'read', description: 'Reads a file.', parameters: z.object({ n: z.number() }), execute: ({ n }) => (calls++, read(n)) })
  const agent = new Agent({ name: 'reader', instructions: 'You read files.', model: 'gpt-5', modelSettings: { store: false, providerData: { include: ['reasoning.encrypted_content'] } }, tools: [files] })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: key, useResponses: true }) })
  const result = await runner.run(agent, ask, { maxTurns: +most + 2, stream })
  if (stream) await result.completed
  return calls
}

async function aiSDK(stream) {
  const { generateText, streamText, tool, stepCountIs } = await import('ai')
  const { createOpenAI } = await import('@ai-sdk/openai')
  const { z } = await import('zod')
  let calls = 0
  const tools = { read: tool({ description: 'Reads a file.', inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => (calls++, read(n)) }) }
  const model = createOpenAI({ apiKey: key, baseURL: process.env.OPENAI_BASE_URL }).chat('gpt-4o')
  const options = { model, tools, prompt: ask, stopWhen: stepCountIs(+most + 2) }
  if (stream) await streamText(options).text
  else await generateText(options)
  return calls
}

const agents = {
  'openai-chat': () => openaiChat(false), 'openai-chat-stream': () => openaiChat(true), 'openai-responses': () => openaiResponses(false), 'openai-responses-stream': () => openaiResponses(true),
  anthropic: () => anthropic(false), 'anthropic-stream': () => anthropic(true), gemini: () => gemini(false), 'gemini-stream': () => gemini(true), agents: () => openaiAgents(false), 'agents-stream': () => openaiAgents(true), ai: () => aiSDK(false), 'ai-stream': () => aiSDK(true),
}
console.log(`${which}: done after ${await agents[which]()} tool calls`)
