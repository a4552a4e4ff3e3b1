# A worker of the server that probes one runtime of probes/run/registry.py:
#   docker build -f docker/worker.Dockerfile --build-arg RUNTIME=openvino-cpu .
FROM python:3.11-slim-bookworm

ARG RUNTIME=onnxruntime-cpu
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 \
    OPATLAS_PRODUCTION=1 OPATLAS_DATA_DIR=/data
WORKDIR /app

COPY requirements.txt ./
RUN grep -vE '^(torch|onnxruntime|openvino)==' requirements.txt > site.txt \
    && pip install -r site.txt

COPY manage.py pyproject.toml ./
COPY probes probes
# The registry's requirements, at the versions that requirements.txt pins where it names them.
RUN grep -v '\[' requirements.txt > constraints.txt \
    && python -c "from probes.run.registry import RUNTIMES as r; \
print(*r['${RUNTIME}'].requirements, sep='\n')" > runtime.txt \
    && pip install -c constraints.txt -r runtime.txt

COPY compat compat
COPY webui webui
COPY fixtures fixtures

RUN useradd --system --uid 10001 opatlas && install -d -o opatlas /data
USER 10001
VOLUME /data

CMD ["celery", "-A", "compat", "worker", "--loglevel", "INFO"]
