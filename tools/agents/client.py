"""An agent of each SDK: it calls the model until that calls no tool any more.

Nothing in it knows of compact; the SDKs read their base URLs from the environment.

    compactctl run --max-context-tokens 20000 -- python3 client.py py-openai-chat 60
"""

import json
import os
import sys

KEY = os.environ.get("AGENT_KEY", "none")
ASK = "Read the files, one after the other."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def read(n):
    return "\n".join(f"file {n}, line {i}: some words that stand in it" for i in range(120))


def openai_chat(stream, most):
    import openai

    client = openai.OpenAI(api_key=KEY)
    messages = [{"role": "system", "content": "You read files."}, {"role": "user", "content": ASK}]
    body = {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]}
    calls = 0
    while True:
        if stream:
            with client.chat.completions.stream(messages=messages, **body) as events:
                completion = events.get_final_completion()
        else:
            completion = client.chat.completions.create(messages=messages, **body)
        message = completion.choices[0].message.model_dump(exclude_none=True)
        message.pop("parsed", None)  # the helper's own fields, which the provider refuses
        asked = message.get("tool_calls") or []
        for c in asked:
            c.pop("index", None), c["function"].pop("parsed_arguments", None)
        messages.append(message)
        if not asked or calls > most:
            return calls
        for c in asked:
            calls += 1
            messages.append({"role": "tool", "tool_call_id": c["id"], "content": read(json.loads(c["function"]["arguments"])["n"])})


def openai_responses(stream, most):
    import openai

    client = openai.OpenAI(api_key=KEY)
    history = [{"role": "user", "content": ASK}]
    tools = [{"type": "function", "name": "read", "parameters": SCHEMA, "strict": False}]
    body = {"model": "gpt-5", "tools": tools, "store": False, "include": ["reasoning.encrypted_content"]}
    calls = 0
    while True:
        if stream:
            with client.responses.stream(input=history, **body) as events:
                response = events.get_final_response()
        else:
            response = client.responses.create(input=history, **body)
        for o in response.output:
            item = o.model_dump(exclude_none=True)
            for part in [item, *item.get("content", [])]:
                part.pop("parsed", None), part.pop("parsed_arguments", None)
            history.append(item)
        asked = [o for o in response.output if o.type == "function_call"]
        if not asked or calls > most:
            return calls
        for c in asked:
            calls += 1
            history.append({"type": "function_call_output", "call_id": c.call_id, "output": read(json.loads(c.arguments)["n"])})


def claude(stream, most):
    import anthropic

    client = anthropic.Anthropic(api_key=KEY)
    messages = [{"role": "user", "content": ASK}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": "You read files.", "tools": [{"name": "read", "input_schema": SCHEMA}]}
    calls = 0
    while True:
        if stream:
            with client.messages.stream(messages=messages, **body) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(messages=messages, **body)
        messages.append({"role": "assistant", "content": message.content})
        asked = [b for b in message.content if b.type == "tool_use"]
        if not asked or calls > most:
            return calls
        calls += len(asked)
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c.id, "content": read(c.input["n"])} for c in asked]})


def gemini(stream, most):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=KEY)
    contents = [types.Content(role="user", parts=[types.Part(text=ASK)])]
    declared = types.FunctionDeclaration(name="read", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
    body = {"model": "gemini-2.5-pro", "contents": contents, "config": config}
    calls = 0
    while True:
        answers = client.models.generate_content_stream(**body) if stream else [client.models.generate_content(**body)]
        parts = [p for a in answers for p in (a.candidates[0].content.parts or [])]
        contents.append(types.Content(role="model", parts=parts))
        asked = [p.function_call for p in parts if p.function_call]
        if not asked or calls > most:
            return calls
        calls += len(asked)
        results = [types.FunctionResponse(id=c.id, name="read", response={"output": read(c.args["n"])}) for c in asked]
        contents.append(types.Content(role="user", parts=[types.Part(function_response=r) for r in results]))


def openai_agents(stream, most):
    """The loop is the SDK's own."""
    import asyncio

    from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    os.environ["OPENAI_API_KEY"] = KEY
    calls = 0

    def of(n: int) -> str:
        nonlocal calls
        calls += 1
        return read(n)

    tool = function_tool(of, name_override="read", description_override="Reads a file.")
    settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    agent = Agent(name="reader", instructions="You read files.", model="gpt-5", model_settings=settings, tools=[tool])

    async def go():
        if not stream:
            await Runner.run(agent, ASK, max_turns=most + 2)
            return
        result = Runner.run_streamed(agent, ASK, max_turns=most + 2)
        async for _ in result.stream_events():
            pass

    asyncio.run(go())
    return calls


AGENTS = {"py-openai-chat": openai_chat, "py-openai-responses": openai_responses, "py-anthropic": claude, "py-gemini": gemini, "py-agents": openai_agents}

if __name__ == "__main__":
    which, limit = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    done = AGENTS[which.removesuffix("-stream")](which.endswith("-stream"), limit)
    print(f"{which}: done after {done} tool calls")
