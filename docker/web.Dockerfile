# The site and the API. Build from the repository root: docker build -f docker/web.Dockerfile .
# No runtime is installed here: probing is the work of docker/worker.Dockerfile.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 \
    OPATLAS_PRODUCTION=1 OPATLAS_DATA_DIR=/data
WORKDIR /app

COPY requirements.txt ./
RUN grep -vE '^(torch|onnxruntime|openvino)==' requirements.txt > site.txt \
    && pip install -r site.txt

COPY manage.py pyproject.toml ./
COPY probes probes
COPY compat compat
COPY webui webui
COPY fixtures fixtures

RUN useradd --system --uid 10001 opatlas && install -d -o opatlas /data
USER 10001
VOLUME /data
EXPOSE 8000

CMD ["gunicorn", "compat.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4", \
     "--forwarded-allow-ips", "*"]
