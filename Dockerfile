# The site itself (web and worker), for machines that reach a registry. Code of other people does not run in it.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 benchwright
WORKDIR /srv/benchwright
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY manage.py ./
COPY config config
COPY runner runner
COPY examples examples
COPY annotation annotation
COPY templates templates
COPY static static
RUN install -d -o benchwright /var/lib/benchwright
ENV BENCHWRIGHT_DATA=/var/lib/benchwright PYTHONUNBUFFERED=1
USER benchwright
EXPOSE 8000
