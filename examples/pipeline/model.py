"""The model, or what stands in for it here: a function from a prompt to a text.

The examples run without a key and without a network, so this one answers from a table. Replace the body of `model` by a
call of yours; nothing else in the examples changes. With the usual SDKs it is:

    # Anthropic: pip install anthropic, and ANTHROPIC_API_KEY in the environment
    import anthropic
    reply = anthropic.Anthropic().messages.create(
        model="claude-sonnet-4-5", max_tokens=2000, system=role, messages=[{"role": "user", "content": prompt}])
    return reply.content[0].text

    # OpenAI: pip install openai, and OPENAI_API_KEY in the environment
    import openai
    return openai.OpenAI().responses.create(model="gpt-5", instructions=role, input=prompt).output_text

    # A local model behind an OpenAI-compatible address (Ollama, llama.cpp, vLLM)
    import openai
    client = openai.OpenAI(base_url="http://127.0.0.1:11434/v1", api_key="none")
    reply = client.chat.completions.create(
        model="qwen3", messages=[{"role": "system", "content": role}, {"role": "user", "content": prompt}])
    return reply.choices[0].message.content
"""

ANSWERS = {
    "You research.": "The gateway answers 504 after 30 seconds although the charge went through. "
    "retry.py sends each retry with a new request id.",
    "You analyse.": "Each retry has a request id of its own, so the gateway takes it for another charge.",
    "You write code.": "retry.py: request_id = sha256(order_id); at most 3 retries, with jitter.",
    "You review.": "Approved: the public API is unchanged, and a retry cannot charge twice.",
}


def model(role: str, prompt: str) -> str:
    """What the model says. `role` is the system prompt, `prompt` the rest."""
    if not prompt.strip():
        raise ValueError("the prompt is empty")
    return ANSWERS[role]
