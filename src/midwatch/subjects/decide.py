"""What the shim is told when it asks: one look, one judgement, one line."""

from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import stall


def instruct_shim(looker: JobDirectory, name: str) -> str:
    facts = looker.facts(name)
    if facts.record is None:
        return ""  # no answer: whoever asks is there, so its files are only out of sight
    policy = facts.record.policy if facts.record else looker.policy
    if facts.record is not None and facts.record.pane is not None:
        from midwatch.sessions.agent_session import AgentSession  # noqa: PLC0415  # most jobs are none

        session = AgentSession(looker, name, policy)
        try:
            if session.observe().seen is not None:
                return f"wait\t{policy.stale_s}\tmoving\tits agent is judged by what it shows\t{facts.now}"
        finally:
            session.close()
    forbidden = ""
    if facts.record is not None and facts.record.breaker is not None and facts.record.between is not None:
        from midwatch.jobs.admission import find_retry_problem  # noqa: PLC0415  # only a job under one pays for it

        forbidden = find_retry_problem(looker.directory, facts.record.breaker)
    answer = stall.instruct_shim(facts, policy, breaker=forbidden)
    return f"{answer.what}\t{answer.seconds}\t{answer.word}\t{answer.reason}\t{facts.now}"
